#!/bin/sh
# What the exchange of gradients costs collective training of ResNet-50: images/s of two trainer processes that exchange, of two
# that train side by side and do not, and of one alone; each process with one compute thread, on generated 32 x 32 images. The three
# follow each other in every round. Markdown on standard output. Trainers that exchange compare the hashes of their parameters at the
# end; one that has others than rank 0 fails, and so does this script.
#   load-tests/scaling.sh [ROUNDS]        (default: 3)
# Environment: BATCH (64 images for each: what is usual for images of this size; 32 is the job's, for images with 49 times as many pixels),
# STEPS (measured, default 24) behind WARM (default 60: before, HotSpot still compiles beside the steps: behind 24 of them it took a ninth
# of the processor time).
set -eu

here=$(cd "$(dirname "$0")" && pwd)
regatta=$here/../regatta
rounds=${1:-3}
steps=${STEPS:-24}
warm=${WARM:-60}
batch=${BATCH:-64}
port=${PORT:-17390}

dir=$(mktemp -d)
started=
cleanup() {
  for pid in $started; do
    kill "$pid" 2>/dev/null || true
  done
  wait 2>/dev/null || true
  rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

"$regatta" version >/dev/null # builds it, if need be, before anything is measured
cluster="\"node\": {\"host\": \"127.0.0.1\", \"cluster\": {\"directory\": \"fixed\", \"endpoints\": {\"rendezvous\": \"127.0.0.1:$port\"}}}"
echo "{$cluster, \"rendezvous\": {\"port\": $port}}" >"$dir/rendezvous.json"
for rank in 0 1; do
  echo "{$cluster, \"fleet\": {\"role\": \"trainer\", \"id\": $rank}}" >"$dir/$rank.json"
done

train() { # NAME images options: in the background
  name=$1
  images=$2
  shift 2
  "$regatta" train "$@" "$here/../configs/resnet50.yaml" --max-steps="$((steps + warm))" --set epochs=1 \
    --set "batch_size=$batch" --set settings.image_size=32 --set "settings.train_images=$images" --set settings.test_images=2 \
    --set "trace.file=$dir/$name.json" --set "trace.from_step=$warm" --set "trace.steps=$steps" \
    --result="$dir/$name-result.json" >"$dir/$name.log" 2>&1 &
  started="$started $!"
}

all() { # waits for those started as trainers
  for pid in "$@"; do
    wait "$pid" || {
      tail -n 20 "$dir"/*.log >&2
      echo "scaling.sh: a trainer failed, see above" >&2
      exit 1
    }
  done
}

rate() { # TRACE: images/s by the median step
  tr '{' '\n' <"$1" | sed -n 's/^"name":"step",.*"dur":\([0-9.E]*\).*/\1/p' | sort -g |
    awk -v b="$batch" '{ t[NR] = $1 } END { printf "%.3f", b * 2e6 / (t[int((NR + 1) / 2)] + t[int(NR / 2) + 1]) }'
}

figure() { # NAME
  sed -n "s/.*\"$1\" *: *\([0-9.E-]*\).*/\1/p" "$dir/two-0-result.json" | head -n 1
}

each=$((batch * (steps + warm + 1)))
: >"$dir/rounds"
round=0
while [ "$round" -lt "$rounds" ]; do
  rm -f "$dir"/*-result.json "$dir"/one*.json "$dir"/apart*.json "$dir"/two*.json
  started=
  train one "$each" --local --set trainers=1
  one=$!
  all "$one"
  started=
  train apart-0 "$each" --local --set trainers=1
  first=$!
  train apart-1 "$each" --local --set trainers=1
  all "$first" "$!"
  started=
  "$regatta" rendezvous -conf="$dir/rendezvous.json" >"$dir/rendezvous.log" 2>&1 &
  rendezvous=$!
  train two-0 "$((2 * each))" -conf="$dir/0.json" --trainers=2
  first=$!
  train two-1 "$((2 * each))" -conf="$dir/1.json" --trainers=2
  second=$!
  started="$rendezvous $first $second"
  all "$first" "$second"
  kill "$rendezvous"
  wait "$rendezvous" || true
  started=
  trace() { ls "$dir/$1"*.json | grep -v result | head -n 1; }
  echo "$(rate "$(trace one)") $(rate "$(trace apart-0)") $(rate "$(trace apart-1)") $(rate "$(trace two-0)") $(rate "$(trace two-1)")" \
    "$(figure exchanges_per_step) $(figure exchange_ms) $(figure exchange_hidden)" >>"$dir/rounds"
  round=$((round + 1))
done

echo "ResNet-50, 32 x 32, batch $batch each, medians of $steps steps behind $warm, $rounds rounds; $(uname -m), $(getconf _NPROCESSORS_ONLN) cores, $(uname -r), load $(cut -d' ' -f1 /proc/loadavg)"
echo
echo "| round | one, images/s | two apart | two that exchange | to two apart | to one | exchanges per step | exchange, ms | hidden behind backward |"
echo "|---|---|---|---|---|---|---|---|---|"
awk '{ a = $2 + $3; t = $4 + $5
  printf "| %d | %.2f | %.2f | %.2f | %.3f | %.2f | %d | %.1f | %.0f %% |\n", NR, $1, a, t, t / a, t / $1, $6, $7, 100 * $8 }' "$dir/rounds"
