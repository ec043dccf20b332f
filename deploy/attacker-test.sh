#!/usr/bin/env bash
# Tests a job with a token and mutual TLS against an attacker on its network: four "machines", network namespaces on one bridge. The
# first has the rendezvous, a parameter server, an aggregator that nobody needs and a predictor, the second and third a trainer each, the
# fourth the attacker. It knows all addresses, ports and names, but neither token nor keys. It lists what it tried, learnt and changed while the
# job trains:
#   ports      every port in the clear, over TLS without a certificate and with one of another CA, without a token and with a wrong one
#   impostor   a server of the attacker's to which a client of the job is led
#   peer       the packets that reach the attacker's port of the switch
#   on path    all packets of the switch, as one sees them who is on the way
# The job must end with the parameters of the same job in one process. If the attacker learns or changes more than that ports are there
# and which certificates they show, the test fails. Run it as
#   deploy/attacker-test.sh
# Variables: DOORS (locked; token: without TLS; open: with node.security.open, where the attacker must find much), STEPS (2000, 50 ms and more each) of the
# job, KEEP=1 to keep the logs and recordings.
# Needs root, ip (iproute2), tcpdump, openssl, and a JDK.
set -euo pipefail
. "$(dirname "$0")/testing.sh"
cd "$root"

needs_root
needs ip "Debian's iproute2"
needs tcpdump "Debian's tcpdump"
needs openssl "Debian's openssl"
needs javac "a JDK"
jar
doors=${DOORS:-locked}
work_with at 4

subnet=10.215.0
attacker=$subnet.4
seed=$subnet.1:5701
job=wide-and-deep
jar_file=$root/services/fleet/target/fleet.jar
javac -nowarn -cp "$jar_file" -sourcepath load-tests/src/main/java -d "$work/classes" \
  load-tests/src/main/java/io/regatta/load/attack/*.java 2>"$work/javac.log" || { cat "$work/javac.log"; fail "javac failed"; }
mkdir "$work/job" "$work/attacker"
names=IP:127.0.0.1,IP:$subnet.1,IP:$subnet.2,IP:$subnet.3
keys "$work/attacker" "$names" # with the same names as the job's, of a CA of its own
openssl pkcs12 -export -in "$work/attacker/tls.crt" -inkey "$work/attacker/tls.key" -out "$work/attacker/tls.p12" -passout pass:attacker
keys "$work/job" "$names"
network at $subnet 4

options=(--set "data.dir=$work/data" --set "settings.train_rows=40000" --set "settings.test_rows=2000" --set "settings.hidden=[32]"
  --set batch_size=32 --set mode=sync --set epochs=100 --set servers=1 --set trainers=2 --set shards=2
  --max-steps "${STEPS:-2000}")
say "the same job in one process, without any of this"
./regatta simulate "configs/$job.yaml" "${options[@]}" --output "$work/alone" --result "$work/alone.json" >"$work/alone.log" 2>&1 ||
  { tail -n 5 "$work/alone.log"; fail "the job does not train in one process"; }

export REGATTA_JAVA_OPTS="-Xmx400m -XX:TieredStopAtLevel=1"
case $doors in
  locked)
    export REGATTA_NODE_TOKEN_FILE=$work/job/token REGATTA_NODE_TLS_CA=$work/job/ca.crt
    export REGATTA_NODE_TLS_CERTIFICATE=$work/job/tls.crt REGATTA_NODE_TLS_KEY=$work/job/tls.key
    ;;
  token) export REGATTA_NODE_TOKEN_FILE=$work/job/token ;;
  open) export REGATTA_NODE_SECURITY_OPEN=true ;;
  *) fail "there are no doors $doors" ;;
esac

(on at-4 tcpdump -i eth0 -U -w "$work/peer.pcap" -B 16384 >"$work/tcpdump-peer.log" 2>&1) &
recorders=($!)
tcpdump -i at-switch -U -w "$work/path.pcap" -B 65536 >"$work/tcpdump-path.log" 2>&1 &
recorders+=($!)
until_true 20 grep -q listening "$work/tcpdump-peer.log" && until_true 20 grep -q listening "$work/tcpdump-path.log" ||
  fail "tcpdump does not record"

part() { # number of the machine, name, command of regatta...
  local host=at-$1 name=$2
  shift 2
  (on "$host" ./regatta "$@" --seeds "$seed") >"$work/$name.log" 2>&1 &
}
part 1 rendezvous rendezvous --set node.cluster.port=5701
part 1 server run "configs/$job.yaml" --role pserver --id 0 "${options[@]}"
part 1 aggregator aggregator
part 1 predictor serve --model "$work/alone"
for rank in 0 1; do
  part $((rank + 2)) trainer-$rank run "configs/$job.yaml" --role trainer "${options[@]}" --set trainer.step_delay_ms=50 --output "$work/model" \
    --result "$work/result.json"
  trainers[rank]=$!
done
for name in rendezvous server aggregator predictor; do
  until_true 120 grep -q '^ready ' "$work/$name.log" || { tail -n 5 "$work/$name.log"; fail "the $name does not start"; }
done
until_true 180 grep -E -q 'train, trainer [0-9] of [0-9]+: ' "$work"/trainer-0.log "$work"/trainer-1.log ||
  { tail -n 5 "$work"/trainer-*.log; fail "the job does not train"; }
say "the job trains"

# Every port that listens beyond loopback, from the kernel, with its process.
ports() {
  local i pid at port
  for i in 1 2 3; do
    (on at-$i ss -Hltnp) | while read -r _ _ _ at _ process; do
      port=${at##*:}
      case $at in 127.0.0.1:* | "[::ffff:127.0.0.1]:"* | "[::1]:"*) continue ;; esac
      pid=$(sed 's/.*pid=\([0-9]*\).*/\1/' <<<"$process")
      echo "$subnet.$i $port $(tr '\0' ' ' <"/proc/$pid/cmdline" |
        grep -E -o -- 'role (pserver|aggregator|trainer)| (rendezvous|serve|aggregator) ' | tail -n 1 | sed 's/role //; s/ //g')"
    done
  done
}
ports >"$work/ports.txt"
[ "$(wc -l <"$work/ports.txt")" -ge 12 ] || { cat "$work/ports.txt"; fail "fewer ports than expected"; }
say "$(wc -l <"$work/ports.txt") ports: $(cut -d' ' -f2- "$work/ports.txt" | sort -k2 | awk '{ printf "%s %s, ", $2, $1 }')"

attack() { # file of the table, arguments
  local out=$1 status=0
  shift
  (on at-4 java -Dlogback.configurationFile=regatta-logback.xml -cp "$work/classes:$jar_file" io.regatta.load.attack.Attacker "$@") >"$work/$out" 2>"$work/$out.log" || status=$?
  case $status in
    0) ;;
    3) found=$((found + 1)) ;;
    *) tail -n 20 "$work/$out" "$work/$out.log"; fail "the attacker's program failed: $out" ;;
  esac
  echo
  echo "## $out"
  cat "$work/$out"
}
found=0
attack ports ports "$work/ports.txt" "$work/attacker" $attacker regatta $job

# A client that believes the attacker's address to be the rendezvous's.
led() { # port
  (on at-3 ./regatta status --ready-timeout 5 --set node.cluster.directory=fixed --set "node.cluster.endpoints.rendezvous=$attacker:$1" \
    --set "node.cluster.endpoints.parameter-server=$attacker:$1") >"$work/led-$1.log" 2>&1 || true
}
(until_true 30 grep -q ready "$work/impostor"; led 7000; led 7001) &
attack impostor impostor "$work/attacker" 7000 7001 40

for rank in 0 1; do
  kill -0 "${trainers[rank]}" 2>/dev/null || [ $doors = open ] || fail "trainer $rank has ended before the attack has: give more STEPS"
done
say "the attack is over, the job still trains: $(grep -E -h -o '[0-9]+/[0-9]+ examples' "$work"/trainer-?.log | tail -n 1)"

if [ $doors != open ]; then
  for rank in 0 1; do
    wait "${trainers[rank]}" || { tail -n 5 "$work/trainer-$rank.log"; fail "trainer $rank did not end with success"; }
  done
fi
kill "${recorders[@]}"
wait "${recorders[@]}" || true
say "recorded: $(grep -h 'captured' "$work"/tcpdump-*.log | tr '\n' ' ')$(grep -h 'dropped by kernel' "$work"/tcpdump-*.log | tr '\n' ' ')"
attack peer recording "$work/peer.pcap" "$work/ports.txt" $attacker "packets at an ordinary port of the switch"
attack path recording "$work/path.pcap" "$work/ports.txt" $attacker "packets on the way"

[ ! -e /tmp/attacker ] || fail "a snapshot was written where the attacker wanted it"
if [ $doors = open ]; then
  [ $found -ge 2 ] || fail "doors are open, and the attacker found too little: its program does not attack"
  say "PASSED: without doors the attacker finds what it looks for"
  exit 0
fi
hash() { grep -E -o '"parameters_hash" *: *"[^"]*"' "$1"; }
[ "$(hash "$work/alone.json")" = "$(hash "$work/result.json")" ] ||
  fail "the job under attack has other parameters: $(hash "$work/result.json"), alone: $(hash "$work/alone.json")"
say "the job ended with the same parameters as in one process: $(hash "$work/result.json")"
[ $found -eq 0 ] || fail "the attacker learnt or changed something: see the tables"
say "PASSED: the attacker learnt and changed nothing but that ports are there"
