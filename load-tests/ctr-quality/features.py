"""The features of a job as whole numbers, computed from the same statistics by other code: for the twins of quality.py.

Kinds id and bucket, which is all that the jobs of quality.py declare. Splits are those of the statistics (by position)
and of test_files."""

import csv
import json
import os
import re

import numpy as np


def columns(names):
    """Expands C[1-26] to C1 ... C26."""
    for name in names:
        found = re.fullmatch(r"(.*)\[(\d+)-(\d+)\](.*)", name)
        if not found:
            yield name
            continue
        for i in range(int(found[2]), int(found[3]) + 1):
            yield found[1] + str(i) + found[4]


def rows(path, given, separator):
    with open(path, newline="", encoding="utf-8") as file:
        lines = csv.reader(file, delimiter=separator, quoting=csv.QUOTE_NONE if separator == "\t" else csv.QUOTE_MINIMAL)
        names = list(given) if given else next(lines)
        for fields in lines:
            if len(fields) == len(names):
                yield dict(zip(names, fields))


def vocabulary(directory, statistics, name):
    entry = statistics["features"]["vocabularies"][name]
    with open(os.path.join(directory, entry["file"]), encoding="utf-8") as file:
        return {line.rsplit("\t", 1)[0]: i + 2 for i, line in enumerate(file.read().splitlines())}


class Table:
    """ids: int64 [rows, features] by part of the split; sizes: the number of ids of each feature."""

    def __init__(self, job, directory):
        data = job["data"]
        statistics_dir = os.path.join(directory, data.get("statistics") or "statistics-" + job["job"])
        with open(os.path.join(statistics_dir, "features.json"), encoding="utf-8") as file:
            statistics = json.load(file)
        separator = "\t" if data.get("format") == "tsv" else ","
        given = list(columns(data.get("columns", [])))
        table = []
        for name in data["files"]:
            table += rows(os.path.join(directory, name), given, separator)
        first_line = 1 if given else 2
        test = statistics["split"]["line"] - first_line if "split" in statistics else len(table)
        validation = statistics["validation_split"]["line"] - first_line
        parts = {"train": table[:validation], "validation": table[validation:test], "test": table[test:]}
        for name in data.get("test_files", []):
            parts["test"] = parts["test"] + list(rows(os.path.join(directory, name), given, separator))
        label, declared = next(iter(job["labels"].items()))
        positive = (declared or {}).get("positive", "1")
        self.names, encoders = [], []
        for pattern, feature in job["features"].items():
            for name in columns([pattern]):
                column = (feature.get("column") or name)
                self.names.append(name)
                encoders.append((column, self.encoder(name, feature, statistics_dir, statistics)))
        self.sizes = [size for _, (_, size) in encoders]
        self.ids, self.labels = {}, {}
        for part, of in parts.items():
            self.ids[part] = np.array([[encode(row[column]) for column, (encode, _) in encoders] for row in of], dtype=np.int64)
            self.labels[part] = np.array([row[label] == positive for row in of], dtype=np.float32)

    @staticmethod
    def encoder(name, feature, directory, statistics):
        """Returns a function from text to an id, and the number of ids; 0 is missing, 1 is rare."""
        if feature["kind"] == "bucket":
            bounds = np.array(feature.get("bounds") or statistics["features"]["bounds"][name])
            return lambda text: 0 if text == "" else 1 + int(np.searchsorted(bounds, float(text), side="right")), len(bounds) + 2
        if feature["kind"] != "id":
            raise SystemExit("features.py knows the kinds id and bucket, not " + feature["kind"] + " of " + name)
        known = vocabulary(directory, statistics, name)
        return lambda text: 0 if text == "" else known.get(text, 1), len(known) + 2
