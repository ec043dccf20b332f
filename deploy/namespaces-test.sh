#!/usr/bin/env bash
# Tests elastic jobs on a network that fails: four "machines", network namespaces with addresses of their own on one bridge, each
# with a trainer.
#   cut-off   the first machine has the rendezvous. A firewall on the fourth drops all its packets for 20 s, and lets them pass again.
#   split     the trainers form a Hazelcast cluster and rendezvous through it (collective.store). A firewall parts the first three
#             machines from the fourth: the three continue, the fourth ends with status 1, though it alone is enough (min_trainers 1).
# Run it as
#   deploy/namespaces-test.sh
# Variables: PARTS (cut-off split), EPOCHS (25) of each job, KEEP=1 to keep the logs.
# Needs root, ip (iproute2), iptables or nft, and a JDK.
set -euo pipefail
. "$(dirname "$0")/testing.sh"
cd "$root"

needs_root
needs ip "Debian's iproute2"
command -v iptables >/dev/null || needs nft "Debian's iptables or nftables"
jar
work_with rg 4

network rg 10.214.0 4

cut_off() {
  if command -v iptables >/dev/null; then
    (on "$1" iptables -A INPUT -i eth0 -j DROP) && (on "$1" iptables -A OUTPUT -o eth0 -j DROP)
  else
    (on "$1" nft -f - <<<'table ip cut { chain in { type filter hook input priority 0; iifname "eth0" drop; }
      chain out { type filter hook output priority 0; oifname "eth0" drop; } }')
  fi
}
bring_back() {
  if command -v iptables >/dev/null; then (on "$1" iptables -F); else (on "$1" nft delete table ip cut); fi
}

seed=10.214.0.1:5701
(umask 077 && openssl rand -hex 32 >"$work/token")
export REGATTA_NODE_TOKEN_FILE=$work/token
export REGATTA_JAVA_OPTS="-Xmx512m -XX:TieredStopAtLevel=1"
trainer() { # host, name, options of this part
  local host=$1 name=$2
  shift 2
  ip netns exec "$host" ./regatta run deploy/kubernetes/overlays/collective/job.yaml --role trainer --seeds $seed --trainers 4 \
    --set "epochs=${EPOCHS:-25}" --output "$work/$part/model" \
    --result "$work/$part/result.json" "$@" >"$work/$name.log" 2>&1 &
}
trainers() { # options of this part
  pids=(0)
  for i in 1 2 3 4; do
    trainer rg-$i trainer-$i "$@"
    pids+=($!)
    echo 0 >"$work/mark-$i"
  done
  speakers="1 2 3 4" # the one of the lowest rank shows progress, wherever it is
  awaited 400 'Epoch 0, batch [0-9]'
  speakers="1 2 3"
  awaited 120 'joined, 4 of [12] to 4|has 4 trainers'
}
status_of() { # number of a trainer
  status=0
  wait "${pids[$1]}" || status=$?
}
ended() { # numbers of trainers
  for i in "$@"; do
    status_of "$i"
    [ $status -eq 0 ] || { tail -n 5 "$work/trainer-$i.log"; fail "the trainer on 10.214.0.$i ended with $status"; }
  done
  figures='"(trainers_at_end|steps|examples|accuracy|loss)":[-0-9.eE]+'
  say "the job ended: $(tr -d '\n ' <"$work/$part/result.json" | grep -E -o "$figures" | tr '\n' ' ')"
}
last_words() { # name
  grep -E '^regatta' "$work/$1.log" | tail -n 1 | cut -c1-300
}
# What trainers, those on the first three if nothing else is said, have said since a moment, and who.
speakers="1 2 3"
mark() { for i in 1 2 3; do wc -c <"$work/trainer-$i.log" >"$work/mark-$i"; done; }
lines() {
  for i in $speakers; do
    tail -c "+$(($(cat "$work/mark-$i") + 1))" "$work/trainer-$i.log" | grep -E -- "$1" | sed "s/^[0-9:.]* */10.214.0.$i: /" | tail -n 1
  done
}
said() { [ -n "$(lines "$1")" ]; }
awaited() { # seconds, line
  until_true "$1" said "$2" || { tail -n 5 "$work"/trainer-*.log; fail "nobody said \"$2\" within $1 s"; }
  say "  $(lines "$2" | head -n 1 | cut -c1-200)"
}

cut_off_and_back() {
  ip netns exec rg-1 ./regatta rendezvous --seeds $seed --set node.cluster.port=5701 >"$work/rendezvous.log" 2>&1 &
  rendezvous=$!
  trainers --set collective.failure_timeout_ms=3000 --set collective.min_trainers=2

  mark
  cut_off rg-4
  say "10.214.0.4 is cut off: a firewall drops all its packets"
  awaited 60 'has 3 trainers after 4'
  awaited 60 'is done, with 3 trainers'
  sleep 10 # longer than any patience of the others with it
  bring_back rg-4
  say "10.214.0.4 is back"
  status_of 4
  [ $status -eq 1 ] || fail "its trainer has ended with $status, not 1"
  say "  trainer-4 ended with 1: $(last_words trainer-4)"
  mark
  trainer rg-4 trainer-4-again --set collective.failure_timeout_ms=3000 --set collective.min_trainers=2
  pids[4]=$!
  awaited 200 'has 4 trainers after 3'
  ended 1 2 3 4
  kill $rendezvous
  wait $rendezvous || true
}

split() {
  # Longer than Hazelcast takes to notice that a member has gone (node.cluster.silence_seconds, 4 s): until then the store answers nobody.
  trainers --set collective.failure_timeout_ms=8000 --set collective.store=hazelcast --set collective.min_trainers=1 \
    --set node.cluster.port=5701

  mark
  cut_off rg-4
  say "10.214.0.4 is parted from the others"
  awaited 120 'has 3 trainers after 4'
  awaited 60 'is done, with 3 trainers'
  status_of 4
  [ $status -eq 1 ] || fail "its trainer has ended with $status, not 1"
  say "  trainer-4 ended with 1: $(last_words trainer-4)"
  ended 1 2 3
  bring_back rg-4
}

for part in ${PARTS:-cut-off split}; do
  say "$part"
  mkdir -p "$work/$part"
  case $part in
    cut-off) cut_off_and_back ;;
    split) split ;;
    *) fail "there is no part $part" ;;
  esac
done
say "PASSED"
