#!/usr/bin/env bash
# Whether trainers that Open MPI starts make up a whole job: each takes its rank from mpirun and hosts a parameter server. Once on this
# machine alone, and once, as root, on three "machines": network namespaces with addresses of their own, which mpirun reaches by a
# stand-in for ssh.
#   deploy/mpi/mpi-test.sh
# Needs mpirun (Debian's openmpi-bin) and a JDK.
set -euo pipefail
. "$(dirname "$0")/../testing.sh"
cd "$root"

needs mpirun "Debian's openmpi-bin"
jar
work=$(mktemp -d)
trap 'cleanup' EXIT
machines=
cleanup() {
  for machine in $machines; do
    ip netns delete "$machine" 2>/dev/null || true
  done
  [ -z "$machines" ] || ip link delete mpi-switch 2>/dev/null || true
  [ "${KEEP:-}" = 1 ] || rm -rf "$work"
}

job="configs/ctr-dnn.yaml --data $work/data --output $work/model --result $work/result.json --set settings.train_rows=20000
  --set settings.test_rows=4000 --set settings.hidden=64,32 --set batch_size=200"
as_root=
[ "$(id -u)" -ne 0 ] || as_root=--allow-run-as-root

checked() { # log
  grep -E -q '"servers" *: *3' "$work/result.json" && grep -E -q '"trainers" *: *3' "$work/result.json" ||
    { tail -20 "$1"; fail "the result is not of 3 servers and 3 trainers"; }
  say "ended with 0: $(tr -d '\n ' <"$work/result.json" | grep -E -o '"(servers|trainers|steps|examples|auc)":[-0-9.]+' | tr '\n' ' ')"
  rm -f "$work/result.json"
}

say "$(mpirun --version | head -n 1)"
# shellcheck disable=SC2086 # words
mpirun $as_root --oversubscribe -n 3 ./regatta run $job >"$work/one.log" 2>&1 || { tail -20 "$work/one.log"; fail "mpirun -n 3"; }
say "mpirun -n 3, one machine"
checked "$work/one.log"

[ "$(id -u)" -eq 0 ] || skip "three machines in network namespaces need root; what came before has passed"
needs ip "Debian's iproute2"
ip link add mpi-switch type bridge && ip link set mpi-switch up
ip addr add 10.213.0.1/24 dev mpi-switch
for i in 1 2 3; do
  machine=mpi-$i
  ip netns add $machine
  machines="$machines $machine"
  ip link add $machine-up type veth peer name eth0 netns $machine
  ip link set $machine-up master mpi-switch up
  ip -n $machine addr add 10.213.0.1$i/24 dev eth0
  ip -n $machine link set eth0 up
  ip -n $machine link set lo up
  echo "10.213.0.1$i slots=1" >>"$work/machines"
done
cat >"$work/ssh" <<'SSH'
#!/bin/bash
# Of ssh, what mpirun needs of it: a command on the machine of an address.
while [[ $1 == -* ]]; do shift; done
host=$1
shift
exec ip netns exec "mpi-${host##*.1}" sh -c "$*"
SSH
chmod +x "$work/ssh"
(umask 077 && openssl rand -hex 32 >"$work/token")
# shellcheck disable=SC2086 # words
ip netns exec mpi-1 mpirun $as_root --mca plm_rsh_agent "$work/ssh" --mca oob_tcp_if_include eth0 --mca btl_tcp_if_include eth0 \
  -hostfile "$work/machines" -n 3 ./regatta run $job --seeds 10.213.0.11:5701 --set "node.token_file=$work/token" >"$work/three.log" 2>&1 ||
  { head -n 20 "$work/three.log"; echo ...; tail -n 20 "$work/three.log"; fail "mpirun -hostfile machines -n 3"; }
say "mpirun -hostfile machines -n 3, three machines: servers at $(grep -E -o 'Server listening on [0-9.]+' "$work/three.log" | awk '{print $4}' | sort | tr '\n' ' ')"
checked "$work/three.log"
say "PASSED"
