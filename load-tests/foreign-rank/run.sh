#!/bin/sh
# Trains one job with a rank of Regatta and a rank in Python (rank.py), and the same job with two ranks of Regatta: a
# rendezvous, two servers and the ranks, each a process of its own. Checks that all end with status 0, that the examples
# of both ranks are counted, and that AUC and log loss are near each other. Markdown on standard output; status 77
# without Python, grpcio, grpcio-tools and numpy.
#   load-tests/foreign-rank/run.sh
# PYTHON names the interpreter (default: python3), for example one of a virtual environment:
#   python3 -m venv DIR && DIR/bin/pip install grpcio grpcio-tools numpy
# REGATTA names the command (default: ./regatta of this checkout).
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
regatta=${REGATTA:-$root/regatta}
python=${PYTHON:-python3}
"$python" -c 'import grpc, grpc_tools, numpy' 2>/dev/null || {
  echo "foreign-rank: SKIPPED, $python has no grpcio, grpcio-tools and numpy: see the head of $0" >&2
  exit 77
}

dir=$(mktemp -d)
pids=
end() {
  for pid in $pids; do kill "$pid" 2>/dev/null || true; done
  wait
  rm -rf "$dir"
}
trap end EXIT
trap 'exit 130' INT TERM
fail() {
  echo "foreign-rank: $1" >&2
  for log in "$dir"/*/*.log; do echo "--- ${log##*/}" >&2; tail -n 20 "$log" >&2; done
  exit 1
}
protobuf=$root/shared-protocol/src/main/protobuf
mkdir "$dir/proto"
# Generated Python modules lie in a package of their own, as the .proto files' imports want it.
"$python" -m grpc_tools.protoc -I "$protobuf" --python_out="$dir/proto" --grpc_python_out="$dir/proto" \
  "$protobuf"/regatta/*.proto
"$regatta" version >/dev/null # builds it, if need be
job=$root/configs/logistic-regression.yaml

free_ports() { # N: so many ports that nobody listens on
  "$python" -c 'import socket, sys
held = [socket.socket() for _ in range(int(sys.argv[1]))]
for s in held: s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in held))' "$1"
}

train() { # NAME: ranks are "regatta" or "python"; result in $dir/NAME/result.json
  run=$dir/$1
  mkdir "$run"
  # shellcheck disable=SC2046 # ports are words
  set -- "$1" $(free_ports 3)
  at="--rendezvous-endpoint 127.0.0.1:$2 --server-endpoints 127.0.0.1:$3,127.0.0.1:$4"
  options="--set node.host=127.0.0.1 --set data.shuffle_buffer=0 --data $dir/data"
  # shellcheck disable=SC2086 # options are words
  {
    "$regatta" run --role rendezvous $at $options "$job" >"$run/rendezvous.log" 2>&1 &
    pids="$pids $!"
    for id in 0 1; do
      "$regatta" run --role pserver --id $id $at $options "$job" >"$run/server-$id.log" 2>&1 &
      pids="$pids $!"
    done
    "$regatta" run --role trainer --id 0 $at $options --result "$run/result.json" "$job" >"$run/rank-0.log" 2>&1 &
    zero=$!
    if [ "$1" = python ]; then
      PYTHONPATH=$dir/proto "$python" "$here/rank.py" --job logistic-regression --data "$dir/data" \
        --rendezvous "127.0.0.1:$2" --servers "127.0.0.1:$3,127.0.0.1:$4" >"$run/rank-1.log" 2>&1 &
    else
      "$regatta" run --role trainer --id 1 $at $options "$job" >"$run/rank-1.log" 2>&1 &
    fi
    one=$!
  }
  pids="$pids $zero $one"
  wait $one || fail "rank 1 of $1 ended with status $?"
  wait $zero || fail "rank 0 beside rank 1 of $1 ended with status $?"
  # shellcheck disable=SC2086 # process ids are words
  kill $pids 2>/dev/null || true
  # shellcheck disable=SC2086
  wait $pids 2>/dev/null || true
  pids=
}

train regatta
train python
tail -n 1 "$dir/python/rank-1.log"
"$python" - "$dir/regatta/result.json" "$dir/python/result.json" <<'END'
import json, sys
results = [json.load(open(f)) for f in sys.argv[1:]]
print("\n| | examples | AUC | log loss |\n|---|---|---|---|")
for name, r in zip(("two ranks of Regatta", "one of Regatta, one in Python"), results):
    print(f"| {name} | {r['examples']} | {r['auc']:.4f} | {r['logloss']:.4f} |")
a, b = results
assert a["examples"] == b["examples"], "the examples of both ranks are to be counted"
assert abs(a["auc"] - b["auc"]) < 0.005 and abs(a["logloss"] - b["logloss"]) < 0.01, "the models are to be alike"
END
