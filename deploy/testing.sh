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

jar() { # builds the jar if it is not there
  [ -f "$root/services/fleet/target/fleet.jar" ] || "$root/regatta" --build
}

# CA, certificate, key and token in a directory, by the commands of docs/security.md.
keys() { # directory
  (cd "$1" && bash -e -c "$(sed -n '/^```sh$/,/^```$/{/^```/d;p}' "$root/docs/security.md")" >keys.log 2>&1) ||
    { tail -n 5 "$1/keys.log"; fail "no keys could be made as docs/security.md says"; }
}
