"""Writes tabular.json: logits and gradients of five networks over tables, by PyTorch's automatic differentiation.

Run: python3 tabular.py > tabular.json    (PyTorch 2, any device; all numbers in float64, parameters exact in float32)

One batch of 4 examples with 2 dense features and slots of 1, 1 and 3 ids; each id has a value, -1 is no id.
Formulas: logistic regression; FM (Rendle 2010) as the explicit sum over pairs; wide and deep (Cheng et al. 2016);
DeepFM (Guo et al. 2017); DCN-v2, parallel form (Wang et al. 2021), with full and with low-rank matrices.
Loss: mean binary cross entropy of the logits.
"""
import json

import torch

torch.manual_seed(25)
torch.set_default_dtype(torch.float64)

WIDTHS, DENSE, DIM, HIDDEN, LAYERS, RANK, IDS = [1, 1, 3], 2, 3, [4, 3], 2, 2, 7
FIELDS = len(WIDTHS) + DENSE

ids = [[0, 1, 2, 3, -1], [4, 1, 5, 5, 2], [0, 6, -1, -1, -1], [4, 3, 6, -1, -1]]
values = [[1, 1, 0.5, 0.5, 0], [1, 1, 0.25, 0.25, 0.5], [1, 1, 0, 0, 0], [1, 2, 1, 0, 0]]
dense = [[0.5, -1.25], [2.0, 0.75], [-0.375, 0.0], [1.5, 1.0]]
labels = [1, 0, 0, 1]


def parameter(*shape):
    return (torch.randn(*shape) * 0.5).float().double().requires_grad_()


def pooled(table):
    rows = []
    for example in range(len(ids)):
        column, slots = 0, []
        for width in WIDTHS:
            slot = torch.zeros(table.shape[1])
            for c in range(column, column + width):
                if ids[example][c] >= 0:
                    slot = slot + values[example][c] * table[ids[example][c]]
            slots.append(slot)
            column += width
        rows.append(torch.stack(slots))
    return torch.stack(rows)


def layers(x, p):
    for i in range(len(HIDDEN)):
        x = torch.relu(x @ p[f"deep{i}_weight"].T + p[f"deep{i}_bias"])
    return x @ p[f"deep{len(HIDDEN)}_weight"].T + p[f"deep{len(HIDDEN)}_bias"]


def network(kind, rank):
    parts = {"logistic_regression": "l", "fm": "lp", "wide_and_deep": "ld", "deepfm": "lpd", "dcn_v2": "cd"}[kind]
    numbers = torch.tensor(dense)
    p, tables = {}, {}
    logit = torch.zeros(len(ids), 1)
    if "l" in parts:
        tables["weights"], p["dense_weights"], p["bias"] = parameter(IDS, 1), parameter(DENSE, 1), parameter(1)
        logit = logit + numbers @ p["dense_weights"] + pooled(tables["weights"]).sum(1) + p["bias"]
    if parts != "l":
        tables["embedding"] = parameter(IDS, DIM)
        vectors = pooled(tables["embedding"])
    if "p" in parts:
        p["dense_vectors"] = parameter(1, DENSE, DIM)
        vectors = torch.cat([vectors, numbers.unsqueeze(2) * p["dense_vectors"]], 1)
        for i in range(FIELDS):
            for j in range(i + 1, FIELDS):
                logit = logit + (vectors[:, i] * vectors[:, j]).sum(1, keepdim=True)
        flat = vectors.reshape(len(ids), -1)
    elif parts != "l":
        flat = torch.cat([vectors.reshape(len(ids), -1), numbers], 1)
    if "c" in parts:
        width, x = flat.shape[1], flat
        for l in range(LAYERS):
            b = p[f"cross{l}_bias"] = parameter(width)
            if rank == 0:
                w = p[f"cross{l}_w"] = parameter(width, width)
                x = flat * (x @ w + b) + x
            else:
                v, u = p[f"cross{l}_v"], p[f"cross{l}_u"] = parameter(width, rank), parameter(rank, width)
                x = flat * (x @ v @ u + b) + x
        p["cross_logit_weight"], p["cross_logit_bias"] = parameter(1, width), parameter(1)
        logit = logit + x @ p["cross_logit_weight"].T + p["cross_logit_bias"]
    if "d" in parts:
        fan_in = flat.shape[1]
        for i, units in enumerate(HIDDEN + [1]):
            p[f"deep{i}_weight"], p[f"deep{i}_bias"] = parameter(units, fan_in), parameter(units)
            fan_in = units
        logit = logit + layers(flat, p)
    loss = torch.nn.functional.binary_cross_entropy_with_logits(logit, torch.tensor(labels).double().unsqueeze(1))
    loss.backward()
    return {"kind": kind, "rank": rank, "logits": logit.flatten().tolist(), "loss": loss.item(),
            "parameters": {n: {"value": t.detach().flatten().tolist(), "gradient": t.grad.flatten().tolist()} for n, t in p.items()},
            "tables": {n: {"value": t.detach().flatten().tolist(), "gradient": t.grad.flatten().tolist()} for n, t in tables.items()}}


print(json.dumps({"ids": ids, "values": values, "dense": dense, "labels": labels, "networks": [
    network("logistic_regression", 0), network("fm", 0), network("wide_and_deep", 0), network("deepfm", 0),
    network("dcn_v2", 0), network("dcn_v2", RANK)]}))
