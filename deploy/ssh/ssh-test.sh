#!/usr/bin/env bash
# regatta launch --hosts with a real sshd, which this script starts for itself on loopback, with keys of its own: two hosts, 127.0.0.1
# and 127.0.0.2. Takes half a minute, and ends at the first thing that is not as it should be.
#   deploy/ssh/ssh-test.sh
# Needs a sshd (Debian's openssh-server), ssh, and a JDK.
set -uo pipefail
. "$(dirname "$0")/../testing.sh"

PATH=$PATH:/usr/sbin:/sbin
needs sshd "Debian's openssh-server"
needs ssh "Debian's openssh-client"
needs ssh-keygen "Debian's openssh-client"
needs javac "a JDK"
dir=$(mktemp -d "${TMPDIR:-/tmp}/regatta-ssh-XXXXXX")
checks=0
trap 'end' EXIT
trap 'exit 130' INT TERM
end() {
  [ ! -f "$dir/sshd.pid" ] || kill "$(cat "$dir/sshd.pid")" 2> /dev/null
  rm -rf "$dir"
}
wrong() { # what, file
  tail -n 40 "${2:-$dir/launch.out}" >&2
  [ ! -f "$dir/sshd.log" ] || tail -n 5 "$dir/sshd.log" >&2
  fail "$1"
}
shows() { # text file
  grep -qF -- "$1" "$2" || wrong "$2 does not show: $1" "$2"
  checks=$((checks + 1))
}
ended_with() { # wanted status
  [ "$status" -eq "$1" ] || wrong "status $status, where $1 was expected: $what"
  checks=$((checks + 1))
}

jar

# --- a sshd of our own ---
ssh-keygen -q -t ed25519 -N '' -f "$dir/host_key"
ssh-keygen -q -t ed25519 -N '' -f "$dir/key"
port=$((20000 + $$ % 10000))
cat > "$dir/sshd_config" << END
Port $port
ListenAddress 127.0.0.1
ListenAddress 127.0.0.2
HostKey $dir/host_key
AuthorizedKeysFile $dir/key.pub
PidFile $dir/sshd.pid
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
StrictModes no
UsePAM no
END
[ "$(id -u)" -ne 0 ] || mkdir -p /run/sshd
"$(command -v sshd)" -f "$dir/sshd_config" -E "$dir/sshd.log" || skip "sshd does not start here: $(tail -n 1 "$dir/sshd.log")"
user=$(id -un)
printf '%s@127.0.0.1:%s\n%s@127.0.0.2:%s\n' "$user" "$port" "$user" "$port" > "$dir/machines"
remote="ssh -i $dir/key -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=$dir/known_hosts -o LogLevel=ERROR"
tries=0
until $remote -o BatchMode=yes -p "$port" "$user@127.0.0.2" true 2> "$dir/login"; do
  tries=$((tries + 1))
  [ $tries -lt 20 ] || skip "this user cannot log in to a sshd of its own: $(cat "$dir/login")"
  sleep 0.2
done

# --- a workspace: job file, the program's jar in lib ---
mkdir -p "$dir/workspace/lib" "$dir/classes"
javac -d "$dir/classes" -cp "$root/services/fleet/target/fleet.jar" \
  "$root/docs/example-project/src/main/java/org/example/HousePrices.java" 2> "$dir/javac" || wrong "the program does not compile" "$dir/javac"
command jar cf "$dir/workspace/lib/house-prices.jar" -C "$dir/classes" .
cat > "$dir/workspace/job.yaml" << END
job: house-prices
program: org.example.HousePrices
mode: sync
epochs: 2
batch_size: 16
optimizer: {kind: sgd, learning_rate: 0.05}
END

regatta="$root/regatta"
[ -z "${JAVA_HOME:-}" ] || regatta="env JAVA_HOME=$JAVA_HOME $root/regatta"
launch() { # options and program; one server port for each run, for a killed one's may still be held
  server_port=$((server_port + 2))
  (cd "$dir" && exec "$root/regatta" launch --hosts "$dir/machines" --ssh "$remote" --regatta "$regatta" --job_workspace "$dir/on-%h" \
    --start_port $server_port --job_id "$(basename "$dir")" "$@") > "$dir/launch.out" 2>&1
}
server_port=$((30000 + $$ % 2000))
running() { # of this test: their workspace is their working directory
  for process in /proc/[0-9]*; do
    case $(readlink "$process/cwd" 2> /dev/null) in
      "$dir"/on-*) case $(readlink "$process/exe" 2> /dev/null) in */java) echo "${process#/proc/}" ;; esac ;;
    esac
  done
}
gone() { # seconds
  left=$(($1 * 5))
  while [ -n "$(running)" ]; do
    left=$((left - 1))
    [ $left -gt 0 ] || wrong "remote processes are left: $(running | tr '\n' ' ')"
    sleep 0.2
  done
  checks=$((checks + 1))
}

what="a workspace is dispatched, and the job trains to its end"
launch --job_dispatch_package "$dir/workspace" --result=result.json job.yaml
status=$?
ended_with 0
shows "joined, 2 shards on servers [127.0.0.1:" "$dir/launch.out"
shows "all workers exit, going to finish parameter server" "$dir/launch.out"
tr -d ' ' < "$dir/on-127.0.0.1/result.json" > "$dir/result"
shows '"trainers":2' "$dir/result"
[ "$(head -n 1 "$dir/on-127.0.0.2/nodefile")" = 1 ] || wrong "nodefile" "$dir/on-127.0.0.2/nodefile"
for log in on-127.0.0.2/log log/nodes/1-127.0.0.2; do
  shows "Server listening on 127.0.0.2:" "$dir/$log/server.log"
  shows "init rpc client with trainer_id 1" "$dir/$log/train.log"
done
gone 5
say "$what"

what="the workspace that is there is used, and what the launcher does not know is passed to the processes"
rm -rf "$dir/log"
launch --no_such_option=1 job.yaml
status=$?
ended_with 1
shows "there is no option '--no_such_option'" "$dir/launch.out"
gone 15
say "$what"

sed -i 's/^epochs: 2/epochs: 1000000/' "$dir/on-127.0.0.1/job.yaml" "$dir/on-127.0.0.2/job.yaml"
for signal in INT KILL; do
  what="SIG$signal of the launcher ends all remote processes"
  server_port=$((server_port + 10))
  (cd "$dir" && exec "$(command -v env)" --default-signal=INT "$root/regatta" launch --hosts "$dir/machines" --ssh "$remote" \
    --regatta "$regatta" --job_workspace "$dir/on-%h" --start_port $server_port job.yaml) > "$dir/launch.out" 2>&1 &
  pid=$!
  left=600
  until grep -q "dense values in" "$dir/launch.out"; do
    left=$((left - 1))
    [ $left -gt 0 ] && kill -0 $pid 2> /dev/null || wrong "the job does not begin: $what"
    sleep 0.2
  done
  [ "$(running | wc -l)" -eq 4 ] || wrong "there are not four remote processes: $(running | tr '\n' ' ')"
  kill -$signal $pid
  wait $pid 2> /dev/null
  status=$?
  [ $signal = KILL ] || ended_with 130
  gone 20
  say "$what"
done

what="a host that ssh does not reach is one line and status 1"
printf '%s@127.0.0.1:%s\n%s@127.0.0.3:%s\n' "$user" "$port" "$user" "$port" > "$dir/machines"
launch --job_dispatch_package "$dir/workspace" job.yaml
status=$?
ended_with 1
shows "regatta: host $user@127.0.0.3:$port cannot be reached over ssh: ssh: connect to host 127.0.0.3 port $port: Connection refused" \
  "$dir/launch.out"
say "$what"

say "$checks checks passed"
