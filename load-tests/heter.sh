#!/bin/sh
# The cost of a cut: CTR-DNN and wide & deep with one server, first without heter workers, then with one. Each role is a process of its
# own. First all of them are on this machine. Then the heter worker is in a second network namespace, and tbf limits the link to it to
# 1 Gbit/s and 100 Mbit/s in both directions. Beside each rate stands the one that `regatta heter-advice` predicts, and the
# difference. Markdown on standard output.
#   load-tests/heter.sh [--quick] [options of the jobs]
# Options go to all roles and to the advice, for example --set batch_size=500. --quick: few steps, one round, a check of this script.
# Environment: JOBS (ctr-dnn wide-and-deep), PARTS (machine links), RATES (1000 100, Mbit/s), ROUNDS (3; medians), TRAINERS (1) that
# feed the heter worker, STEPS (measured, 100) after WARM (60), DENSE (trainers servers: heter.dense of the runs on this machine; over
# links it is trainers, which the advice reckons with; servers trains with overlap: false, and not wide & deep), PORT (17500).
# Part links needs root, ip and tc (Debian: iproute2). Where it cannot run, this script says so and leaves it out.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
regatta=$here/../regatta
rounds=3 warm=60 steps=100 rows=200000 settle=20
if [ "${1:-}" = --quick ]; then
  shift
  rounds=1 warm=10 steps=20 rows=40000 settle=10
fi
jobs=${JOBS:-ctr-dnn wide-and-deep}
parts=${PARTS:-machine links}
rates=${RATES:-1000 100}
rounds=${ROUNDS:-$rounds}
trainers=${TRAINERS:-1}
steps=${STEPS:-$steps}
warm=${WARM:-$warm}
dense=${DENSE:-trainers servers}
port=${PORT:-17500}
ticks=$(getconf CLK_TCK)

command -v curl >/dev/null || { echo "heter.sh: install curl, which reads the metrics of trainers" >&2; exit 2; }

dir=$(mktemp -d)
near=rgh$$a
far=rgh$$b
started=
stop() {
  # shellcheck disable=SC2086 # process ids are words
  [ -z "$started" ] || { kill $started 2>/dev/null; wait $started 2>/dev/null; } || true
  started=
}
cleanup() {
  stop
  ip netns del "$near" 2>/dev/null || true
  ip netns del "$far" 2>/dev/null || true
  rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

fail() {
  tail -n 8 "$dir"/*.log >&2
  echo "heter.sh: $*" >&2
  exit 1
}

link() { # the two namespaces; false, with a reason in $dir/why, where there can be none
  [ "$(id -u)" -eq 0 ] || { echo "network namespaces need root" >"$dir/why"; return 1; }
  command -v ip >/dev/null && command -v tc >/dev/null || { echo "install iproute2, for ip and tc" >"$dir/why"; return 1; }
  ip netns add "$near" 2>"$dir/why" && ip netns add "$far" 2>"$dir/why" &&
    ip link add veth0 netns "$near" type veth peer name veth0 netns "$far" 2>"$dir/why" || return 1
  ip -n "$near" addr add 10.78.0.1/24 dev veth0
  ip -n "$far" addr add 10.78.0.2/24 dev veth0
  for side in "$near" "$far"; do
    ip -n "$side" link set lo up
    ip -n "$side" link set veth0 up
  done
  limit 1000 2>"$dir/why"
}

limit() { # MBIT_PER_S; a burst is short beside a batch, which would pass it without a wait otherwise
  for side in "$near" "$far"; do
    tc -n "$side" qdisc replace dev veth0 root tbf rate "$1mbit" burst 128kb latency 50ms || return 1
  done
}

# A role of the job as a process, by PaddlePaddle's variables. Host and namespace of the heter worker are its own over a link.
role() { # NAME NAMESPACE HOST VARIABLE=VALUE...: the options of the job are in $dir/options
  name=$1 namespace=$2 host=$3
  shift 3
  set -- env "$@" TRAINING_ROLE="$role" PADDLE_TRAINERS_NUM="$trainers" POD_IP="$host" PADDLE_PSERVERS_IP_PORT_LIST="$server" \
    REGATTA_NODE_SECURITY_OPEN=true "$regatta" run "$here/../configs/$job.yaml" --set "node.admin.port=$admin"
  [ -z "$cut" ] || set -- env PADDLE_HETER_TRAINER_IP_PORT_LIST="$worker" "$@" --set "heter.dense=$cut"
  [ "$cut" != servers ] || set -- "$@" --set overlap=false # which it requires
  while read -r word; do set -- "$@" "$word"; done <"$dir/options"
  [ -z "$namespace" ] || set -- ip netns exec "$namespace" "$@"
  "$@" >"$dir/$name.log" 2>&1 </dev/null &
  started="$started $!"
}

counters() { # NAMESPACE; into $dir/now: seconds, steps of all trainers, CPU seconds of all processes, batches and bytes of heter workers
  : >"$dir/metrics"
  rank=0
  while [ "$rank" -lt "$trainers" ]; do
    ${1:+ip netns exec "$1"} curl -s -m 5 "http://$near_host:$((port + 10 + rank))/metrics" >>"$dir/metrics" || return 1
    rank=$((rank + 1))
  done
  for pid in $started; do cat "/proc/$pid/stat" || return 1; done >"$dir/stats" 2>/dev/null
  cpu=$(awk -v ticks="$ticks" '{ cpu += $14 + $15 } END { print cpu / ticks }' "$dir/stats")
  awk -v now="$(date +%s.%N)" -v cpu="$cpu" '
    /^regatta_trainer_steps_total/ { steps += $NF }
    /^regatta_trainer_heter_batches_total/ { batches += $NF }
    /^regatta_trainer_heter_bytes_(out|in)_total/ { bytes += $NF }
    END { printf "%s %d %s %d %.0f\n", now, steps, cpu, batches, bytes }' "$dir/metrics" >"$dir/now"
}

# Waits until all trainers together have made so many steps, and keeps the counters of the moment in which the next one was over.
reached() { # STEPS NAMESPACE FILE
  deadline=$(($(date +%s) + 300))
  pause=0.3
  from=
  while :; do
    for pid in $started; do kill -0 "$pid" 2>/dev/null || fail "$job: a process has ended too early, see above"; done
    if counters "$2"; then
      made=$(cut -d' ' -f2 "$dir/now")
      if [ "$made" -ge "$1" ]; then
        [ -z "$from" ] || [ "$made" -eq "$from" ] || break
        from=$made
        pause=0.01
      fi
    fi
    [ "$(date +%s)" -lt "$deadline" ] || fail "$job: fewer than $1 steps in 300 s, see above"
    sleep "$pause"
  done
  cp "$dir/now" "$3"
}

# Runs the job, and appends to the file of its kind: examples/s, CPU seconds per 100,000 examples, bytes per example over the cut.
measure() { # KIND CUT NEAR FAR: heter.dense, or nothing without a cut; namespaces, or nothing on this machine
  kind=$1 cut=$2
  echo "heter.sh: $job, round $((round + 1)), $kind" >&2
  near_host=127.0.0.1 far_host=127.0.0.1
  [ -z "$3" ] || near_host=10.78.0.1 far_host=10.78.0.2
  server=$near_host:$port
  worker=$far_host:$((port + 1))
  rm -f "$dir"/*.log
  admin=$((port + 8)) role=PSERVER
  role server "$3" "$near_host" PADDLE_PORT="$port"
  admin=$((port + 9)) role=HETER_TRAINER
  [ -z "$cut" ] || role heter-worker "$4" "$far_host" PADDLE_PORT=$((port + 1))
  role=TRAINER
  rank=0
  while [ "$rank" -lt "$trainers" ]; do
    admin=$((port + 10 + rank))
    role "trainer-$rank" "$3" "$near_host" PADDLE_TRAINER_ID="$rank"
    rank=$((rank + 1))
  done
  reached $((warm * trainers)) "$3" "$dir/from"
  reached $(((warm + steps) * trainers)) "$3" "$dir/to"
  stop
  cat "$dir/from" "$dir/to" | awk -v batch="$batch" '
    NR == 1 { split($0, a) }
    NR == 2 { split($0, b); examples = (b[2] - a[2]) * batch; sent = (b[4] - a[4]) * batch
      printf "%.1f %.2f %.0f\n", examples / (b[1] - a[1]), 1e5 * (b[3] - a[3]) / examples, sent ? (b[5] - a[5]) / sent : 0 }' \
    >>"$dir/$job $kind"
}

median() { # KIND column
  cut -d' ' -f"$2" "$dir/$job $1" | sort -g | awk '{ v[NR] = $1 } END { printf "%s", (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}

# Examples/s that the advice predicts for these trainers and one heter worker; over "uncut": without a cut.
predicted() { # uncut, or the bandwidth as the advice writes it
  if [ "$1" = uncut ]; then
    sed -n 's/.*(without a cut \([0-9.]*\)).*/\1/p' "$dir/advice" | head -n 1 |
      awk -v n="$trainers" -v batch="$batch" '{ printf "%.1f", $1 * n * batch }'
  else
    sed -n "s|^at $1: \\([0-9.]*\\) batches/s of a trainer (.*), \\([0-9.]*\\) of a heter worker.*|\\1 \\2|p" "$dir/advice" |
      awk -v n="$trainers" -v batch="$batch" '{ rate = $1 * n < $2 ? $1 * n : $2; printf "%.1f", rate * batch }'
  fi
}

row() { # WORDS KIND PREDICTED
  awk -v words="$1" -v rate="$(median "$2" 1)" -v cpu="$(median "$2" 2)" -v bytes="$(median "$2" 3)" -v wanted="$3" \
    -v uncut="$(median uncut 1)" -v uncut_cpu="$(median uncut 2)" 'BEGIN {
      printf "| %s | %.0f | %.2f | %.2f | %.2f | %.0f | %s | %s |\n", words, rate, rate / uncut, cpu, cpu / uncut_cpu, bytes,
        wanted == "" ? "" : sprintf("%.0f", wanted), wanted == "" ? "" : sprintf("%+.0f %%", 100 * (wanted - rate) / rate) }'
}

bandwidth() { # MBIT_PER_S, as the advice writes it
  awk -v mbit="$1" 'BEGIN { if (mbit >= 1000) print mbit / 1000 " Gbit/s"; else print mbit " Mbit/s" }'
}

"$regatta" version >/dev/null # builds it, if need be, before anything is measured
links=
case " $parts " in
  *" links "*)
    if link; then links=true; else echo "heter.sh: SKIPPED part links: $(cat "$dir/why")" >&2; fi ;;
esac
machine=
case " $parts " in *" machine "*) machine=true ;; esac
[ -n "$machine$links" ] || { echo "heter.sh: nothing was measured" >&2; exit 0; }
cd "$dir" # for the data that are generated

echo "One server, $trainers trainer(s), one heter worker; medians of $rounds round(s) of $steps steps after $warm; $(uname -m), $(getconf _NPROCESSORS_ONLN) cores, $(uname -r), load $(cut -d' ' -f1 /proc/loadavg)"
for job in $jobs; do
  ways=$dense
  [ "$job" != wide-and-deep ] || ways=trainers # its wide part has dense parameters before the cut, which the servers' way refuses
  batch=$(sed -n 's/^batch_size: *\([0-9]*\).*/\1/p' "$here/../configs/$job.yaml")
  for word in "$@"; do
    case $word in batch_size=*) batch=${word#batch_size=} ;; esac
  done
  printf '%s\n' --set epochs=100 --set "settings.train_rows=$rows" --set settings.test_rows=1000 --set "data.dir=$dir/$job.data" \
    --set output= "$@" >"$dir/options"
  asked=
  for rate in $rates; do asked=${asked:+$asked,}${rate}Mbit/s; done
  (
    while read -r word; do set -- "$@" "$word"; done <"$dir/options"
    # The last bandwidth costs no time, as on one machine.
    "$regatta" heter-advice "$here/../configs/$job.yaml" --steps $((steps > 50 ? 50 : settle)) --bandwidth "$asked,1000Gbit/s" "$@"
  ) >"$dir/advice" 2>"$dir/advice.log" </dev/null || fail "heter-advice of $job failed, see above"
  round=0
  while [ "$round" -lt "$rounds" ]; do
    measure uncut "" "" ""
    if [ -n "$machine" ]; then
      for way in $ways; do measure "machine-$way" "$way" "" ""; done
    fi
    if [ -n "$links" ]; then
      for rate in $rates; do
        limit "$rate" || fail "tc cannot limit the link"
        measure "link-$rate" trainers "$near" "$far"
      done
    fi
    round=$((round + 1))
  done
  echo
  echo "$job, batches of $batch:"
  echo
  echo "| | examples/s | of uncut | CPU s per 100,000 examples | of uncut | bytes per example over the cut | examples/s by the advice | off by |"
  echo "|---|---|---|---|---|---|---|---|"
  row "uncut" uncut "$(predicted uncut)"
  if [ -n "$machine" ]; then
    for way in $ways; do
      row "cut, on one machine, \`heter.dense: $way\`" "machine-$way" "$([ "$way" = servers ] || predicted "1000 Gbit/s")"
    done
  fi
  if [ -n "$links" ]; then
    for rate in $rates; do row "cut, $(bandwidth "$rate")" "link-$rate" "$(predicted "$(bandwidth "$rate")")"; done
  fi
  echo
  echo '```text'
  grep -v '^at 1000 Gbit/s' "$dir/advice"
  echo '```'
done
