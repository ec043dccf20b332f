#!/bin/sh
# Attacks each port of a job that trains: slow clients of some thirty kinds, floods, and mutated frames and requests of the job's own calls,
# over TCP and within TLS, a tenth more of the frames there. Prints a table: what came, in which time, how many calls of the job succeeded
# and how many steps it made meanwhile, with the slowest of each, the heap while all connections are open, memory that stays, and bytes of
# the log. Fails if a connection stays open,
# a call fails, the job makes no step or ends with other parameters than in peace, or a budget is exceeded.
#   load-tests/attack.sh [CONNECTIONS [FRAMES]]   (default: 1000 of each kind, and 1000000; about ten minutes)
# Variable: AUTHENTICATE_MS (5000; 20000 is the default of a process) that a connection may be without authentication.
# Needs a JDK, and leave to open 10000 files (ulimit -n).
set -eu

connections=${1:-1000}
frames=${2:-1000000}
cd "$(dirname "$0")/.."
[ "$(ulimit -n)" = unlimited ] || [ "$(ulimit -n)" -ge 10000 ] || ulimit -n 10000 ||
  { echo "attack.sh: $(ulimit -n) open files are too few: ulimit -n 10000" >&2; exit 2; }
log=$(mktemp)
status=0
./mvnw -q -B -ntp test -pl services/fleet -am -Dtest=AttackTest -Dsurefire.failIfNoSpecifiedTests=false -Dsbom.phase=none \
  "-Dattack.connections=$connections" "-Dattack.frames=$frames" -Dattack.each_flood=true \
  "-Dattack.authenticate_ms=${AUTHENTICATE_MS:-5000}" \
  >"$log" 2>&1 </dev/null || status=$?
echo "| attack | connections or frames | s | calls meanwhile | slowest, ms | steps meanwhile | slowest, ms" \
  "| heap while they are open, kB | live heap, kB | direct memory, kB | log, bytes |"
echo "|---|---|---|---|---|---|---|---|---|---|---|"
grep -a '^| ' "$log" || true
if [ "$status" -ne 0 ]; then
  echo "attack.sh: failed; see $log" >&2
  grep -a -A 8 '^\[ERROR\]   AttackTest' "$log" >&2 || tail -n 20 "$log" >&2
  exit 1
fi
rm -f "$log"
