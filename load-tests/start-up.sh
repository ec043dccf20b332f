#!/bin/sh
# How long Regatta takes from the command to the end of a job of one step, whose data are there: seconds and CPU seconds of all its
# processes, for simulate (two servers and two trainers in one JVM) and for launch (each a process of its own). Markdown on
# standard output.
#   load-tests/start-up.sh [ROUNDS]        (default: 5; medians)
#   load-tests/start-up.sh doors [ROUNDS]  (default: 12)
# doors: the same of a rendezvous, a server and two trainers, processes that find each other through Hazelcast at an address of this
# machine beyond loopback: with node.security.open and without a token, with a token, which members and callers prove, and with a token
# and mutual TLS. Rounds go over them forwards and backwards in turn. Fails if a token costs more than 2 % of the seconds, by median.
# Environment: KINDS (open token tls).
set -eu

doors=
if [ "${1:-}" = doors ]; then
  doors=true
  shift
  set -- "${1:-12}"
fi

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

quartile() { # FILE column quarter: the second is the median
  cut -d' ' -f"$2" "$1" | sort -g | awk -v q="$3" '{ v[NR] = $1 }
    END { at = 1 + (NR - 1) * q / 4; below = int(at); above = below < at ? below + 1 : below
      printf "%.3f", v[below] + (at - below) * (v[above] - v[below]) }'
}

# Parts of a job with the doors of its name; the variables are those of its processes.
cluster() { # open, token or tls
  case $1 in
    open) set -- REGATTA_NODE_SECURITY_OPEN=true ;;
    token) set -- REGATTA_NODE_TOKEN_FILE="$dir/token" ;;
    tls) set -- REGATTA_NODE_TOKEN_FILE="$dir/token" REGATTA_NODE_TLS_CA="$dir/ca.crt" REGATTA_NODE_TLS_CERTIFICATE="$dir/tls.crt" \
      REGATTA_NODE_TLS_KEY="$dir/tls.key" REGATTA_NODE_TLS_VERIFY_HOST=false ;;
  esac
  once "runs-$kind" env "$@" /bin/sh -e "$dir/parts"
}

ratios() { # FILE: seconds and CPU seconds of each round by those without doors
  paste -d' ' "$1" runs-open | awk '{ print $1 / $3, $2 / $4 }' >"$1-ratios"
}

if [ -n "$doors" ]; then
  kinds=${KINDS:-open token tls}
  most=1.02
  address=$(ip -4 -o addr show scope global | awk '{ sub("/.*", "", $4); print $4; exit }')
  [ -n "$address" ] || { echo "start-up.sh: this machine has no IPv4 address beyond loopback" >&2; exit 2; }
  seed=$address:$((20000 + $$ % 10000))
  sed -n '/^```sh$/,/^```$/{/^```/d;p}' "$here/../docs/security.md" >make-keys
  bash -e make-keys >said 2>&1 || { tail -n 20 said >&2; exit 1; }
  cat >parts <<END
few="$few --set servers=1 --seeds $seed"
"$regatta" rendezvous --seeds $seed --set node.cluster.port=${seed##*:} &
rendezvous=\$!
"$regatta" run "$job" --role pserver --id 0 \$few &
server=\$!
"$regatta" run "$job" --role trainer \$few &
first=\$!
"$regatta" run "$job" --role trainer \$few &
wait \$! && wait \$first || failed=true
kill \$rendezvous \$server 2>/dev/null || true # the server ends by itself
wait \$rendezvous \$server || true
[ -z "\${failed:-}" ]
END
  # shellcheck disable=SC2086 # options are words
  "$regatta" simulate "$job" $few >said 2>&1 || { tail -n 20 said >&2; exit 1; } # makes the data
  for kind in $kinds; do cluster "$kind"; done # files and caches of the machine
  rm -f runs-*
  round=0
  while [ "$round" -lt "$rounds" ]; do
    order=$kinds
    [ $((round % 2)) -eq 0 ] || order=$(echo "$kinds" | awk '{ for (i = NF; i > 0; i--) print $i }')
    for kind in $order; do cluster "$kind"; done
    round=$((round + 1))
  done
  echo "Medians of $rounds interleaved runs of a job of one step at $address, from the command to its end; $(uname -m), $(getconf _NPROCESSORS_ONLN) cores, $(uname -r), load $(cut -d' ' -f1 /proc/loadavg)"
  echo
  echo "| rendezvous, server and two trainers | seconds | of those without | quartiles | CPU seconds | of those without | quartiles | wanted |"
  echo "|---|---|---|---|---|---|---|---|"
  for kind in $kinds; do
    ratios "runs-$kind"
    case $kind in
      open) name="node.security.open, no token" wanted= ;;
      token) name="token" wanted="≤ $most" ;;
      tls) name="token and mutual TLS" wanted= ;;
    esac
    echo "| $name | $(median "runs-$kind" 1) | $(quartile "runs-$kind-ratios" 1 2) | $(quartile "runs-$kind-ratios" 1 1) to $(quartile "runs-$kind-ratios" 1 3) | $(median "runs-$kind" 2) | $(quartile "runs-$kind-ratios" 2 2) | $(quartile "runs-$kind-ratios" 2 1) to $(quartile "runs-$kind-ratios" 2 3) | $wanted |"
  done
  case " $kinds " in
    *" token "*) ;;
    *) exit 0 ;;
  esac
  ratio=$(quartile runs-token-ratios 1 2)
  awk -v ratio="$ratio" -v most="$most" 'BEGIN { exit !(ratio > most) }' || exit 0
  echo "start-up.sh: a job with a token takes $ratio of the seconds of one without (median; quartiles $(quartile runs-token-ratios 1 1) to $(quartile runs-token-ratios 1 3)), and $most is allowed: measure again on a quiet machine, or look at what it waits for" >&2
  exit 1
fi

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
