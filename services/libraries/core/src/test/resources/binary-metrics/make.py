"""Writes cases.tsv: python3 make.py (scikit-learn 1.3 or newer, numpy). Tests read it, and need no Python.

A line is a case: its name, average precision, log loss divided by that of the rate of positives (nan if a class is
missing), the labels as digits, and the predictions in units of 2^-16, so that each has a bucket of its own.
"""
import os
import warnings

import numpy
from sklearn.metrics import average_precision_score, log_loss

HERE = os.path.dirname(os.path.abspath(__file__))
UNITS = 1 << 16


def drawn(random, n, rate, levels):
    """Labels and predictions that know something of them, with as many different values as levels."""
    labels = (random.random(n) < rate).astype(int)
    scores = 1 / (1 + numpy.exp(-(random.normal(size=n) + 1.2 * labels - 1.5)))
    return labels, numpy.clip(numpy.round(scores * levels), 1, levels - 1) / levels


def cases():
    random = numpy.random.default_rng(7)
    yield "few", [0, 0, 1, 1], [0.125, 0.5, 0.25, 0.75]
    yield "best", [0, 0, 1, 1], [0.125, 0.25, 0.5, 0.75]
    yield "worst", [1, 1, 0, 0, 0], [0.125, 0.25, 0.5, 0.75, 0.875]
    yield "one value", [0, 1, 0, 0, 1, 0, 0, 0], [0.25] * 8
    yield "tie at the top", [0, 1, 1, 0, 1], [0.75, 0.75, 0.5, 0.25, 0.25]
    yield "tie at the end", [1, 0, 1, 0, 0], [0.75, 0.5, 0.25, 0.25, 0.25]
    yield "positives only", [1, 1, 1], [0.25, 0.5, 0.5]
    yield "negatives only", [0, 0, 0], [0.25, 0.5, 0.5]
    yield "no ties", *drawn(random, 300, 0.3, UNITS)
    yield "many ties", *drawn(random, 400, 0.3, 16)
    yield "rare positives", *drawn(random, 400, 0.02, 256)
    yield "rare negatives", *drawn(random, 400, 0.97, 256)


def main():
    warnings.simplefilter("ignore")  # of a missing class
    with open(f"{HERE}/cases.tsv", "w") as out:
        for name, labels, scores in cases():
            rate = numpy.mean(labels)
            entropy = log_loss(labels, numpy.full(len(labels), rate), labels=[0, 1])
            normalized = log_loss(labels, scores, labels=[0, 1]) / entropy if 0 < rate < 1 else numpy.nan
            units = numpy.asarray(scores) * UNITS
            assert (units == numpy.floor(units)).all()
            print(name, repr(float(average_precision_score(labels, scores))), repr(float(normalized)),
                  "".join(map(str, labels)), ",".join(str(int(u)) for u in units), sep="\t", file=out)


main()
