"""Writes metrics.tsv: python3 make.py (scikit-learn 1.3 or newer, numpy). Tests read it, and need no Python.

Predictions of classes, numbers, probabilities and rankings, with the metrics that scikit-learn computes of them. A line is a name, a tab, and numbers with commas between them.
"""
import os

import numpy
from sklearn.calibration import calibration_curve
from sklearn.metrics import (accuracy_score, confusion_matrix, f1_score, log_loss, mean_absolute_error,
                             mean_squared_error, ndcg_score, r2_score)

random = numpy.random.default_rng(25)


def classes():
    labels = random.integers(0, 4, 200)
    labels[labels == 3] = random.integers(0, 3, (labels == 3).sum())  # class 3 never occurs, but is predicted
    logits = random.normal(size=(200, 4)) + 1.5 * numpy.eye(4)[labels]
    p = (numpy.exp(logits) / numpy.exp(logits).sum(1, keepdims=True)).astype(numpy.float32)
    best = p.argmax(1)
    return {"labels": labels.tolist(), "probabilities": [[float(v) for v in row] for row in p],
            "accuracy": accuracy_score(labels, best), "macro_f1": f1_score(labels, best, average="macro"),
            "logloss": log_loss(labels, p.astype(float) / p.astype(float).sum(1, keepdims=True), labels=[0, 1, 2, 3]),
            "confusion": confusion_matrix(labels, best, labels=[0, 1, 2, 3]).tolist()}


def numbers():
    targets = (1000 + random.normal(size=150)).astype(numpy.float32)
    predictions = (targets + 0.5 * random.normal(size=150)).astype(numpy.float32)
    a, b = targets.astype(float), predictions.astype(float)
    return {"targets": a.tolist(), "predictions": b.tolist(), "rmse": mean_squared_error(a, b) ** 0.5,
            "mae": mean_absolute_error(a, b), "r2": r2_score(a, b)}


def calibration():
    p = random.beta(2, 4, 400).astype(numpy.float32)
    labels = (random.random(400) < p ** 1.3).astype(int)
    observed, predicted = calibration_curve(labels, p.astype(float), n_bins=10, strategy="uniform")
    counts = numpy.histogram(p, bins=numpy.linspace(0, 1, 11))[0]
    counts = counts[counts > 0]
    return {"labels": labels.tolist(), "probabilities": [float(v) for v in p], "observed": observed.tolist(),
            "predicted": predicted.tolist(),
            "expected_error": float((counts * abs(observed - predicted)).sum() / counts.sum())}


def ranking():
    groups, labels, scores, sums = [], [], [], {1: 0, 3: 0, 10: 0}
    counted = 0
    for group in range(30):
        n = int(random.integers(2, 12))
        y = random.integers(0, 4, n)
        s = numpy.round(y * 0.3 + random.normal(size=n), 1).astype(numpy.float32)  # with ties
        groups += [group] * n
        labels += y.tolist()
        scores += [float(v) for v in s]
        if y.max() > 0:
            counted += 1
            for k in sums:
                sums[k] += ndcg_score([y], [s.astype(float)], k=k)
    return {"groups": groups, "labels": labels, "scores": scores, "ndcg": {str(k): v / counted for k, v in sums.items()},
            "counted": counted}


def flat(value):
    if isinstance(value, list):
        return [number for each in value for number in flat(each)]
    return [value]


def write(out, name, value):
    if isinstance(value, dict):
        for key, of in value.items():
            write(out, name + "." + str(key), of)
    else:
        out.write(name + "\t" + ",".join(repr(float(number)) for number in flat(value)) + "\n")


with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "metrics.tsv"), "w") as out:
    for part in classes, numbers, calibration, ranking:
        write(out, part.__name__, part())
