#!/usr/bin/env bash
# Tests a job with a token and mutual TLS against an attacker on its network: four "machines", network namespaces on one bridge. The
# first has the rendezvous, a parameter server, an aggregator that nobody needs and a predictor, the second and third a trainer each, the
# fourth the attacker. It knows all addresses, ports and names, but neither token nor keys. It lists what it tried, learnt and changed while the
# job trains:
#   ports      every port in the clear, over TLS without a certificate and with one of another CA, without a token and with a wrong one
#   impostor   a server of the attacker's to which a client of the job is led
#   peer       the packets that reach the attacker's port of the switch
#   on path    all packets of the switch, as one sees them who is on the way
#   poisoned   with forged ARP answers it puts itself between all machines: it forwards each packet of a second job, then changes
#              bytes of some, in every connection of the job, then drops all for 5 s (DOORS=locked)
# The job must end with the parameters of the same job in one process; the second one may instead end with an error of one line. If the
# attacker learns or changes more than that ports are there and which certificates they show, the test fails. Run it as
#   deploy/attacker-test.sh
# Variables: DOORS (locked; open: with node.security.open, where the attacker must find much), STEPS (2000, 50 ms and more each) of the
# job, ATTACKS (outside poisoned) which of both is tried, KEEP=1 to keep the logs and recordings.
# Needs root, ip (iproute2), tcpdump, openssl, a JDK, and arpspoof (dsniff) and nft (nftables) for the second job.
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
attacks=${ATTACKS:-outside poisoned}
[ $doors = locked ] || attacks=outside # the attacker on the way has nothing to break
[[ " $attacks " != *" poisoned "* ]] || { needs arpspoof "Debian's dsniff"; needs nft "Debian's nftables"; }
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
  open) export REGATTA_NODE_SECURITY_OPEN=true ;;
  *) fail "there are no doors $doors" ;;
esac

part() { # number of the machine, name, command of regatta...
  local host=at-$1 name=$2
  shift 2
  (on "$host" ./regatta "$@" --seeds "$seed") >"$logs/$name.log" 2>&1 &
  parts+=($!)
}
# The whole job; its logs, model and result are in a directory.
start_job() { # directory
  local name
  logs=$1
  mkdir -p "$logs"
  parts=()
  part 1 rendezvous rendezvous --set node.cluster.port=5701
  part 1 server run "configs/$job.yaml" --role pserver --id 0 "${options[@]}"
  part 1 aggregator aggregator
  part 1 predictor serve --model "$work/alone"
  for rank in 0 1; do
    part $((rank + 2)) trainer-$rank run "configs/$job.yaml" --role trainer "${options[@]}" --set trainer.step_delay_ms=50 --output "$logs/model" \
      --result "$logs/result.json"
    trainers[rank]=$!
  done
  for name in rendezvous server aggregator predictor; do
    until_true 120 grep -q '^ready ' "$logs/$name.log" || { tail -n 5 "$logs/$name.log"; fail "the $name does not start"; }
  done
  until_true 180 grep -E -q 'train, trainer [0-9] of [0-9]+: ' "$logs"/trainer-0.log "$logs"/trainer-1.log ||
    { tail -n 5 "$logs"/trainer-*.log; fail "the job does not train"; }
  say "the job trains"
}
end_job() {
  kill "${parts[@]}" 2>/dev/null || true
  wait "${parts[@]}" 2>/dev/null || true
}

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
# A client that believes the attacker's address to be the rendezvous's.
led() { # port
  (on at-3 ./regatta status --ready-timeout 5 --set node.cluster.directory=fixed --set "node.cluster.endpoints.rendezvous=$attacker:$1" \
    --set "node.cluster.endpoints.parameter-server=$attacker:$1") >"$work/led-$1.log" 2>&1 || true
}
hash() { grep -E -o '"parameters_hash" *: *"[^"]*"' "$1"; }

outside() {
  (on at-4 tcpdump -i eth0 -U -w "$work/peer.pcap" -B 16384 >"$work/tcpdump-peer.log" 2>&1) &
  recorders=($!)
  tcpdump -i at-switch -U -w "$work/path.pcap" -B 65536 >"$work/tcpdump-path.log" 2>&1 &
  recorders+=($!)
  until_true 20 grep -q listening "$work/tcpdump-peer.log" && until_true 20 grep -q listening "$work/tcpdump-path.log" ||
    fail "tcpdump does not record"

  start_job "$work/outside"
  ports >"$work/ports.txt"
  [ "$(wc -l <"$work/ports.txt")" -ge 12 ] || { cat "$work/ports.txt"; fail "fewer ports than expected"; }
  say "$(wc -l <"$work/ports.txt") ports: $(cut -d' ' -f2- "$work/ports.txt" | sort -k2 | awk '{ printf "%s %s, ", $2, $1 }')"

  attack ports ports "$work/ports.txt" "$work/attacker" $attacker regatta $job

  (until_true 30 grep -q ready "$work/impostor"; led 7000; led 7001) &
  attack impostor impostor "$work/attacker" 7000 7001 40

  for rank in 0 1; do
    kill -0 "${trainers[rank]}" 2>/dev/null || [ $doors = open ] || fail "trainer $rank has ended before the attack has: give more STEPS"
  done
  say "the attack is over, the job still trains: $(grep -E -h -o '[0-9]+/[0-9]+ examples' "$logs"/trainer-?.log | tail -n 1)"

  if [ $doors != open ]; then
    for rank in 0 1; do
      wait "${trainers[rank]}" || { tail -n 5 "$logs/trainer-$rank.log"; fail "trainer $rank did not end with success"; }
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
  [ "$(hash "$work/alone.json")" = "$(hash "$logs/result.json")" ] ||
    fail "the job under attack has other parameters: $(hash "$logs/result.json"), alone: $(hash "$work/alone.json")"
  say "the job ended with the same parameters as in one process: $(hash "$logs/result.json")"
}

# Every machine takes the attacker's network card for that of each other one. Recorded is what arrives at it, from the first packet on.
poisoned() {
  local i k mac spoofers=() before name status lines outcome
  mac=$(ip -n at-4 -o link show eth0 | sed 's/.*link.ether \([0-9a-f:]*\).*/\1/')
  (on at-4 sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.send_redirects=0 net.ipv4.conf.eth0.send_redirects=0)
  for i in 1 2 3; do
    for k in 1 2 3; do
      [ $i -ne $k ] || continue
      (on at-$i bash -c "exec 3<>/dev/tcp/$subnet.$k/1" 2>/dev/null) || true # nobody listens, but now it knows its neighbour
      (on at-4 arpspoof -i eth0 -t $subnet.$i $subnet.$k >"$work/arpspoof-$i-$k.log" 2>&1) &
      spoofers+=($!)
    done
  done
  caught() { (on at-$1 ip neigh show $subnet.$2) | grep -q -i "lladdr $mac"; }
  for i in 1 2 3; do
    for k in 1 2 3; do
      [ $i -eq $k ] || until_true 20 caught $i $k || fail "machine $i does not take the attacker for machine $k: the test does not attack"
    done
  done
  (on at-4 tcpdump -i eth0 -Q in -U -w "$work/poisoned.pcap" -B 65536 >"$work/tcpdump-poisoned.log" 2>&1) &
  local recorder=$!
  until_true 20 grep -q listening "$work/tcpdump-poisoned.log" || fail "tcpdump does not record"
  say "all machines send their packets for each other to the attacker, who forwards them"
  start_job "$work/poisoned"
  ports >"$work/poisoned.txt"

  # Four bytes at one place of every 50th packet that has so many; with checksums that hardware would compute, nobody notices below TLS.
  before=$(trained)
  until_true 60 further $((before + 3200)) || fail "the job does not train while the attacker forwards its packets"
  cat >"$work/change.nft" <<'NFT'
table ip change {
  chain forward {
    type filter hook forward priority 0;
    ip protocol tcp ip length > 160 numgen inc mod 50 0 @th,800,32 set 0x6a6a6a6a counter
  }
}
NFT
  mkdir "$work/before" && cp "$logs"/*.log "$work/before"
  (on at-4 nft -f "$work/change.nft") || skip "nft cannot change packets here"
  say "it changes four bytes of every 50th packet"
  changed() { [ "$(counted)" -ge "${1:-20}" ]; }
  counted() { (on at-4 nft list table ip change) | sed -n 's/.*counter packets \([0-9]*\).*/\1/p'; }
  until_true 60 changed 20 || until_true 1 over || fail "only $(counted) packets were changed"
  until_true 15 over || true
  say "$(counted) packets were changed"
  (on at-4 nft delete table ip change)
  if ! over; then
    (on at-4 sysctl -qw net.ipv4.ip_forward=0)
    say "it drops all packets"
    until_true 5 over || true
    (on at-4 sysctl -qw net.ipv4.ip_forward=1)
    say "it forwards them again"
  fi
  outcome=
  for rank in 0 1; do
    until_true 600 gone "${trainers[rank]}" || fail "trainer $rank neither trains to its end nor ends"
    status=0
    wait "${trainers[rank]}" || status=$?
    lines=$(grep -c '^regatta: ' "$logs/trainer-$rank.log") || true
    case $status in
      0) outcome="$outcome whole" ;;
      1)
        [ "$lines" -eq 1 ] || { tail -n 5 "$logs/trainer-$rank.log"; fail "trainer $rank ended with $lines lines of an error"; }
        outcome="$outcome refused"
        say "trainer $rank: $(grep '^regatta: ' "$logs/trainer-$rank.log" | cut -c1-300)"
        ;;
      *) tail -n 5 "$logs/trainer-$rank.log"; fail "trainer $rank ended with $status" ;;
    esac
  done
  for name in $(cd "$logs" && ls -- *.log); do # what was logged since the first packet was changed
    tail -c +$(($(stat -c %s "$work/before/$name") + 1)) "$logs/$name" >"$work/$name.since"
    ! grep -E -q '^\s+at [a-z]+\.[A-Za-z0-9.$]+\(' "$work/$name.since" || fail "a stack trace in $work/$name.since"
  done
  if [[ $outcome == *whole* ]]; then
    [ "$(hash "$work/alone.json")" = "$(hash "$logs/result.json")" ] || fail "the job with changed packets has other parameters"
    say "the job ended with the same parameters as in one process"
  else
    [ ! -e "$logs/result.json" ] || fail "a job that failed has a result"
  fi
  end_job
  kill "${spoofers[@]}" $recorder
  wait "${spoofers[@]}" $recorder 2>/dev/null || true
  say "logged since the first change: $(cat "$work"/*.since | grep -v ' examples, ' | wc -l) lines of $(cat "$work"/*.since | grep -v ' examples, ' | wc -c) bytes"
  attack through recording "$work/poisoned.pcap" "$work/poisoned.txt" $attacker "packets through the attacker"
}
trained() { sed -n 's/.*[^0-9]\([0-9]*\)\/[0-9]* examples.*/\1/p' "$logs"/trainer-?.log | sort -n | tail -n 1; }
further() { [ "$(trained)" -ge "$1" ]; }
gone() { ! kill -0 "$1" 2>/dev/null; }
over() { gone "${trainers[0]}" && gone "${trainers[1]}"; }

found=0
for part in $attacks; do
  $part
  end_job
done
[ $found -eq 0 ] || fail "the attacker learnt or changed something: see the tables"
say "PASSED: the attacker learnt and changed nothing but that ports are there"
