"""Reads a CSV of a label, 13 numbers and 26 texts, and makes floats and ids of them, with pandas or Polars on one thread.

Usage: transform.py pandas|polars FILE. Reads a number of passes per line, answers with rows, CPU seconds, wall seconds and checks.
"""
import os
import sys
import time

os.environ["POLARS_MAX_THREADS"] = "1"
KIND, FILE = sys.argv[1], sys.argv[2]
NUMBERS = [f"I{i}" for i in range(1, 14)]
TEXTS = [f"C{i}" for i in range(1, 27)]


def with_pandas():
    table = pd.read_csv(FILE, dtype={name: str for name in TEXTS})
    floats = np.empty((len(table), 2 * len(NUMBERS)), np.float32)
    for i, name in enumerate(NUMBERS):
        missing = table[name].isna()
        value = table[name].fillna(0)
        floats[:, 2 * i] = (np.sign(value) * np.log1p(value.abs())).to_numpy()
        floats[:, 2 * i + 1] = missing.to_numpy()
    ids = np.empty((len(table), len(TEXTS)), np.uint64)
    for i, name in enumerate(TEXTS):
        ids[:, i] = pd.util.hash_array(table[name].fillna("").to_numpy(), categorize=False)
    labels = table["label"].to_numpy(np.float32)
    return len(table), floats, ids, labels


def with_polars():
    table = pl.read_csv(FILE, schema_overrides={name: pl.String for name in TEXTS} | {name: pl.Float64 for name in NUMBERS})
    table = table.select(
        [pl.col("label").cast(pl.Float32)]
        + [(pl.col(n).fill_null(0).sign() * pl.col(n).fill_null(0).abs().log1p()).cast(pl.Float32) for n in NUMBERS]
        + [pl.col(n).is_null().cast(pl.Float32).alias(n + " missing") for n in NUMBERS]
        + [pl.col(n).fill_null("").hash(seed=1) for n in TEXTS])
    floats = table.select(NUMBERS + [n + " missing" for n in NUMBERS]).to_numpy()
    ids = table.select(TEXTS).to_numpy()
    return table.height, floats, ids, table["label"].to_numpy()


if KIND == "pandas":
    import numpy as np
    import pandas as pd
    version, work = pd.__version__, with_pandas
else:
    import polars as pl
    version, work = pl.__version__, with_polars
print(version, flush=True)
for line in sys.stdin:
    rows = 0
    logs = 0.0
    missing = 0
    begin, cpu = time.perf_counter(), time.process_time()
    for _ in range(int(line)):
        count, floats, ids, labels = work()
        rows += count
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    print(rows, cpu, seconds, float(floats.sum(dtype="float64")), int(labels.sum()), flush=True)
