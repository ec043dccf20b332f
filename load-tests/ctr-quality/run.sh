#!/bin/sh
# AUC and examples per second of Regatta's networks on tables beside deepctr-torch and FuxiCTR: the same files, features, splits,
# initial values and hyperparameters (configs/criteo-*.yaml, avazu-deepfm.yaml, census-deepfm.yaml), early stopping on the same rows, mean of three seeds, one compute thread;
# and scikit-learn's logistic regression on the same features. Markdown on standard output; status 1 if a network is more than 0.002
# below a twin.
#   load-tests/run.sh ctr-quality [--data DIR] [--seeds N] [--sets criteo avazu census] [--kinds deepfm ...] [--libraries FuxiCTR ...]
# DIR (CTR_DATA) holds criteo-head, avazu-head and census with the files that these name; a set that is not there is left out by name.
# Makes a virtual environment in load-tests/target/ctr-quality (about 5 GB: torch). PYTHON: Python 3.10 or newer; REGATTA: the script; VENV: an environment
# that has the packages. Where none can be made, this script says so and leaves the comparison out, with status 77.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python3}
venv=${VENV:-$here/../target/ctr-quality}
data=${CTR_DATA:-$here/../../data/ctr}
leave_out() {
  echo "ctr-quality is left out: $*" >&2
  exit 77
}

if ! "$venv/bin/python" -c "import importlib.util as u; assert all(map(u.find_spec, ['torch', 'deepctr_torch', 'fuxictr', 'sklearn', 'yaml', 'polars']))" 2>/dev/null; then
  command -v "$python" >/dev/null || leave_out "there is no $python; install Python 3.10 or newer"
  "$python" -m venv "$venv" || leave_out "$python cannot make a virtual environment; install its module venv"
  "$venv/bin/pip" install -q 'torch==2.4.1' 'numpy<2' pandas scikit-learn pyyaml h5py tqdm pyarrow polars requests &&
    "$venv/bin/pip" install -q --no-deps deepctr-torch==0.3.0 fuxictr==2.3.10 || leave_out "pip cannot install its packages, see above"
fi
SETUPTOOLS_USE_DISTUTILS=stdlib OMP_NUM_THREADS=1 exec "$venv/bin/python" "$here/quality.py" --regatta "${REGATTA:-$here/../../regatta}" --configs "$here/../../configs" \
  --data "$data" "$@"
