"""Writes the Parquet files of this directory: python3 make.py (pyarrow 15 or newer). Tests read them, and need no Python."""
import datetime
import decimal
import os

import numpy
import pyarrow as pa
import pyarrow.parquet as pq

HERE = os.path.dirname(os.path.abspath(__file__))
N = 300


def codecs():
    table = pa.table({
        "clicked": pa.array([i % 2 == 0 for i in range(N)]),
        "price": pa.array([None if i == 7 else i / 4 for i in range(N)], pa.float64()),
        "user": pa.array([1000 + i for i in range(N)], pa.int64()),
        "city": pa.array(["Ulm" if i % 3 else "Köln" for i in range(N)]),
    })
    for codec in ["none", "snappy", "gzip", "lz4", "brotli", "zstd"]:
        pq.write_table(table, f"{HERE}/{codec}.parquet", compression=codec, row_group_size=128, write_statistics=False)


def types():
    when = datetime.datetime(2026, 11, 22, 12, 0, 0, 500000)
    table = pa.table({
        "clicked": pa.array([1, 0], pa.int8()),
        "small": pa.array([decimal.Decimal("12.34"), None], pa.decimal128(9, 2)),
        "large": pa.array([decimal.Decimal("-12345678901234567890.5"), decimal.Decimal(1)], pa.decimal128(30, 1)),
        "whole": pa.array([decimal.Decimal(77), decimal.Decimal(-3)], pa.decimal128(12, 0)),
        "half": pa.array(numpy.array([0.333251953125, -65504.0], numpy.float16)),
        "ms": pa.array([when, None], pa.timestamp("ms")),
        "us": pa.array([when, None], pa.timestamp("us")),
        "ns": pa.array([when, None], pa.timestamp("ns")),
        "date": pa.array([when.date(), None], pa.date32()),
        "unsigned": pa.array([4294967295, 1], pa.uint32()),
        "list": pa.array([[1], [2]], pa.list_(pa.int32())),
    })
    pq.write_table(table, f"{HERE}/types.parquet", write_statistics=False)
    pq.write_table(table.select(["ns"]), f"{HERE}/int96.parquet", use_deprecated_int96_timestamps=True, write_statistics=False)


def partitions():
    table = pa.table({
        "clicked": [1.0, 0.0, 1.0],
        "user": [1, 2, 3],
        "day": [22, 22, 23],
        "country": ["de", None, "a b/c"],
    })
    pq.write_to_dataset(table, f"{HERE}/partitioned", partition_cols=["day", "country"],
                        basename_template="part-{i}.parquet")


codecs()
types()
partitions()
