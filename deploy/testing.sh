# Shared by the tests of this directory, which are no part of the build: they need root, and programs of their own. Sourced by bash.

name=$(basename "$0" .sh)
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
began=$(date +%s%N)

# What cannot be tried here ends the script with status 77, and says why.
skip() {
  echo "$name: SKIPPED: $*" >&2
  exit 77
}

fail() {
  say "FAILED: $*"
  exit 1
}

say() {
  local millis=$((($(date +%s%N) - began) / 1000000))
  printf '%6d.%d s  %s\n' $((millis / 1000)) $((millis / 100 % 10)) "$*"
}

needs_root() {
  [ "$(id -u)" -eq 0 ] || skip "needs root"
}

needs() { # program, how to get it
  command -v "$1" >/dev/null || skip "needs $1 ($2)"
}

# until SECONDS COMMAND...: repeats the command, quietly, until it succeeds. False when the time is over.
until_true() {
  local end=$(($(date +%s) + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    [ "$(date +%s)" -lt "$end" ] || return 1
    sleep 0.2
  done
}

# Keeps in a file what regatta status says of a cluster whose services are up, and so answer the first time: it is asked once. On a busy
# machine its own process may take long to start and to join, which is all that the time is for.
status_to() { # file, command that runs in the cluster...
  local to=$1 status=0
  shift
  "$@" --ready-timeout 120 >"$to" 2>&1 || status=$?
  [ $status -eq 0 ] || { cat "$to"; fail "regatta status ended with $status"; }
  ! grep -q 'does not answer' "$to" || { cat "$to"; fail "a service does not answer"; }
}

jar() { # builds the jar if it is not there
  [ -f "$root/services/fleet/target/fleet.jar" ] || "$root/regatta" --build
}

# A directory for this run, $work, and the end of it with its machines: what was started ends, and the logs of a failure stay.
work_with() { # prefix and number of machines
  work=$(mktemp -d)
  trap "clean_up $1 $2" EXIT
}

clean_up() { # prefix and number of machines
  local status=$?
  trap - EXIT
  kill $(jobs -p) 2>/dev/null || true
  wait 2>/dev/null || true
  no_network "$1" "$2"
  if [ $status -eq 0 ] && [ "${KEEP:-}" != 1 ]; then rm -rf "$work"; else echo "logs: $work"; fi
  exit $status
}

# CA, certificate, key and token in a directory, by the commands of docs/security.md.
keys() { # directory, names for the certificate instead of those of the page
  local commands
  commands=$(sed -n '/^```sh$/,/^```$/{/^```/d;p}' "$root/docs/security.md")
  [ -z "${2:-}" ] || commands=$(sed "s/\(subjectAltName=\)[^)]*/\1$2/" <<<"$commands")
  (cd "$1" && bash -e -c "$commands" >keys.log 2>&1) ||
    { tail -n 5 "$1/keys.log"; fail "no keys could be made as docs/security.md says"; }
}

# Machines for a test: network namespaces PREFIX-1, PREFIX-2 ... with the addresses SUBNET.1, SUBNET.2 ... on eth0, and one bridge.
network() { # prefix, subnet of three numbers, how many
  ip link add "$1-switch" type bridge || skip "no bridge can be made here"
  ip link set "$1-switch" up
  local i
  for i in $(seq "$3"); do
    ip netns add "$1-$i"
    ip link add "$1-$i-up" type veth peer name eth0 netns "$1-$i"
    ip link set "$1-$i-up" master "$1-switch" up
    ip -n "$1-$i" addr add "$2.$i/24" dev eth0
    ip -n "$1-$i" link set eth0 up
    ip -n "$1-$i" link set lo up
  done
}

no_network() { # prefix, how many
  local i
  for i in $(seq "$2"); do
    ip netns delete "$1-$i" 2>/dev/null || true
  done
  ip link delete "$1-switch" 2>/dev/null || true
}

on() { # machine, command...; takes this shell's place, so that a job's id is the command's: in brackets where something follows
  local host=$1
  shift
  exec ip netns exec "$host" "$@"
}
