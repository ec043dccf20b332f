#!/bin/sh
# How long Regatta takes from the command to the end of a job of one step, whose data are there: seconds and CPU seconds of all its
# processes, for simulate (two servers and two trainers in one JVM) and for launch (each a process of its own). Markdown on
# standard output.
#   load-tests/start-up.sh [ROUNDS]        (default: 5; medians)
set -eu

here=$(cd "$(dirname "$0")" && pwd)
regatta=$here/../regatta
job=$here/../configs/wide-and-deep.yaml
rounds=${1:-5}

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
"$regatta" version >/dev/null # builds it, if need be, before anything is measured
cd "$dir"
few="--set settings.train_rows=4000 --set settings.test_rows=500 --max-steps 1"

once() { # FILE command...: appends seconds and CPU seconds
  out=$1
  shift
  /bin/sh -c 'began=$(date +%s.%N); "$@" >said 2>&1 || { tail -n 20 said >&2; exit 1; }; ended=$(date +%s.%N); echo "$began $ended"; times' sh "$@" |
    awk 'NR == 1 { wall = $2 - $1 } NR == 3 { split($1, u, "[ms]"); split($2, s, "[ms]"); print wall, u[1] * 60 + u[2] + s[1] * 60 + s[2]; ok = 1 } END { exit !ok }' >>"$out" ||
    { echo "start-up.sh: $* failed, see above" >&2; exit 1; }
}

median() { # FILE column
  cut -d' ' -f"$2" "$1" | sort -g | awk '{ v[NR] = $1 } END { printf "%.1f", (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}

# shellcheck disable=SC2086 # options are words
{
  "$regatta" simulate "$job" $few >said 2>&1 || { tail -n 20 said >&2; exit 1; } # makes the data
  round=0
  while [ "$round" -lt "$rounds" ]; do
    once simulate "$regatta" simulate "$job" $few
    once launch "$regatta" launch --server_num 2 --worker_num 2 "$job" $few
    round=$((round + 1))
  done
}
echo "Medians of $rounds runs of a job of one step, from the command to its end; $(uname -m), $(getconf _NPROCESSORS_ONLN) cores, $(uname -r), load $(cut -d' ' -f1 /proc/loadavg)"
echo
echo "| | seconds | CPU seconds | wanted, to the first step |"
echo "|---|---|---|---|"
echo "| simulate, two servers and two trainers | $(median simulate 1) | $(median simulate 2) | 8 s, 12 CPU s |"
echo "| launch of two servers and two trainers | $(median launch 1) | $(median launch 2) | 20 s |"
