#!/bin/sh
# Step time of collective training over a slow link: plain, float16 and top-k 0.1 % exchange (docs/algorithms.md#fewer-bytes-in-collective-mode)
# between two trainer processes in network namespaces of their own, over a veth pair that tbf limits in both directions. Trains
# ResNet-50 (25.6 million parameters) on generated 32 x 32 images, or LeNet with JOB=lenet. Markdown on standard output.
#   load-tests/slow-link.sh [MBIT_PER_S ...]       (default: 100 30 300 1000 0; 0: not limited)
# Environment: JOB (resnet50, lenet), STEPS (measured, default 6) behind WARM (default 3), BATCH (8). Needs root, ip and tc (Debian:
# iproute2), and says so where it cannot run: then nothing is measured, and the status is 0.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
job=${JOB:-resnet50}
steps=${STEPS:-6}
warm=${WARM:-3}
batch=${BATCH:-8}
[ $# -gt 0 ] || set -- 100 30 300 1000 0

skip() {
  echo "slow-link.sh: SKIPPED, nothing was measured: $*" >&2
  exit 0
}

[ "$(id -u)" -eq 0 ] || skip "network namespaces need root"
command -v ip >/dev/null && command -v tc >/dev/null || skip "there is no ip, or no tc: install iproute2"

dir=$(mktemp -d)
left=rgt$$a
right=rgt$$b
started=
cleanup() {
  for pid in $started; do
    kill "$pid" 2>/dev/null || true
  done
  wait 2>/dev/null || true
  ip netns del "$left" 2>/dev/null || true
  ip netns del "$right" 2>/dev/null || true
  rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

ip netns add "$left" 2>"$dir/why" && ip netns add "$right" 2>"$dir/why" &&
  ip link add veth0 netns "$left" type veth peer name veth0 netns "$right" 2>"$dir/why" ||
  skip "this machine makes no network namespaces: $(cat "$dir/why")"
ip -n "$left" addr add 10.77.0.1/24 dev veth0
ip -n "$right" addr add 10.77.0.2/24 dev veth0
for side in "$left" "$right"; do
  ip -n "$side" link set lo up
  ip -n "$side" link set veth0 up
done

limit() { # MBIT_PER_S
  for side in "$left" "$right"; do
    tc -n "$side" qdisc del dev veth0 root 2>/dev/null || true
    [ "$1" -eq 0 ] || tc -n "$side" qdisc add dev veth0 root tbf rate "$1mbit" burst "$((128 + $1))kb" latency 50ms ||
      skip "tc cannot limit the link with tbf"
  done
}

"$here/../regatta" version >/dev/null # builds it, if need be, before anything is measured; not again if sources change meanwhile
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
flags=
[ "$("$java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p' | head -n 1)" -lt 24 ] || flags=--sun-misc-unsafe-memory-access=allow
OMP_NUM_THREADS=1
OPT_OUT_TRACKING=true
export OMP_NUM_THREADS OPT_OUT_TRACKING

regatta() { # NAMESPACE options: in the place of the shell that calls it
  namespace=$1
  shift
  # shellcheck disable=SC2086 # options are words
  exec ip netns exec "$namespace" "$java" $flags -jar "$here/../services/fleet/target/fleet.jar" "$@"
}

conf() { # FILE HOST more
  echo "{\"node\": {\"host\": \"$2\", \"token_file\": \"$dir/token\", \"cluster\": {\"directory\": \"fixed\", \"endpoints\": {\"rendezvous\": \"10.77.0.1:7000\"}}}$3}" >"$1"
}
(umask 077 && head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \n' >"$dir/token")
conf "$dir/rendezvous.json" 10.77.0.1 ', "rendezvous": {"port": 7000}'
conf "$dir/0.json" 10.77.0.1 ', "fleet": {"role": "trainer", "id": 0}'
conf "$dir/1.json" 10.77.0.2 ', "fleet": {"role": "trainer", "id": 1}'
images=$((batch * 2 * (steps + warm + 1)))

trainer() { # RANK NAMESPACE options
  rank=$1
  namespace=$2
  shift 2
  regatta "$namespace" train -conf="$dir/$rank.json" "$here/../configs/$job.yaml" --trainers=2 \
    --max-steps="$((steps + warm))" --set epochs=1 --set "batch_size=$batch" --set "settings.train_images=$images" \
    --set settings.test_images=2 $([ "$job" = lenet ] || echo --set settings.image_size=32) \
    --set "trace.file=$dir/trace.json" --set "trace.from_step=$warm" --set "trace.steps=$steps" \
    --result="$dir/result-$rank.json" "$@" >"$dir/trainer-$rank.log" 2>&1 &
  started="$started $!"
}

measure() { # options; then: step, ms, median of the steps behind the warm-up; bytes of a rank and step
  rm -f "$dir"/trace*.json "$dir"/result*.json
  started=
  regatta "$left" rendezvous -conf="$dir/rendezvous.json" >"$dir/rendezvous.log" 2>&1 &
  rendezvous=$!
  trainer 0 "$left" "$@"
  first=$!
  trainer 1 "$right" "$@"
  second=$!
  started="$rendezvous $first $second"
  wait "$first" && wait "$second" || {
    tail -n 20 "$dir"/trainer-*.log >&2
    echo "slow-link.sh: a trainer failed, see above" >&2
    exit 1
  }
  kill "$rendezvous"
  wait "$rendezvous" || true
  started=
  ms=$(tr '{' '\n' <"$dir/trace-0.json" | sed -n 's/^"name":"step",.*"dur":\([0-9.E]*\).*/\1/p' | sort -g |
    awk '{ t[NR] = $1 } END { printf "%.1f", (t[int((NR + 1) / 2)] + t[int(NR / 2) + 1]) / 2000 }')
  bytes=$(sed -n 's/.*"exchange_bytes_per_step" *: *\([0-9.E]*\).*/\1/p' "$dir/result-0.json" | awk '{ printf "%.0f", $1 }')
}

echo "$job, 2 trainers, batch $batch each, medians of $steps steps behind $warm; $(uname -m), $(getconf _NPROCESSORS_ONLN) cores, $(uname -r), load $(cut -d' ' -f1 /proc/loadavg)"
echo
echo "| Mbit/s | plain, ms | float16, ms | top-k 0.1 %, ms | fastest |"
echo "|---|---|---|---|---|"
for rate in "$@"; do
  limit "$rate"
  measure
  plain=$ms plain_bytes=$bytes
  measure --set collective.fp16_allreduce=true
  half=$ms half_bytes=$bytes
  measure --set collective.dgc=true
  top=$ms top_bytes=$bytes
  fastest=$(awk -v p="$plain" -v h="$half" -v t="$top" \
    'BEGIN { print (t <= h && t <= p) ? "top-k" : (h <= p) ? "float16" : "plain" }')
  echo "| $([ "$rate" -eq 0 ] && echo "not limited" || echo "$rate") | $plain | $half | $top | $fastest |"
  echo "$rate $plain $half $top" >>"$dir/rows"
done
echo
echo "Bytes that a rank sends per step: plain $plain_bytes, float16 $half_bytes, top-k $top_bytes."
# What a form costs beside its bytes is told by the fastest link; a step is that and its bytes at the link's rate.
sort -n "$dir/rows" | awk -v p="$plain_bytes" -v h="$half_bytes" -v t="$top_bytes" '
  $1 == 0 { plain = $2; half = $3; top = $4; known = 1 }
  function below(name, cost, fewer) {
    if (cost <= 0) print "By these, and the steps of the link that is not limited, " name " is faster than plain at every rate."
    else printf "By these, and the steps of the link that is not limited, %s is faster than plain below %.0f Mbit/s.\n", name, 8e-3 * fewer / cost
  }
  END { if (known) { print ""; below("float16", half - plain, p - h); print ""; below("top-k", top - plain, p - t) } }'
