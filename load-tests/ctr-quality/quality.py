"""AUC and examples per second of Regatta's networks beside their twins: same files, features, splits, hyperparameters.

Called by run.sh; see there."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
import yaml

import features

DIRECTORIES = {"criteo": "criteo-head", "avazu": "avazu-head", "census": "census"}
KINDS = ["logistic_regression", "fm", "wide_and_deep", "deepfm", "dcn_v2"]
DEFAULTS = {"embedding": 10, "embedding_bound": 0.01, "hidden": [128, 64], "gain": 1.414, "cross_layers": 3, "dropout": 0.0}


def auc(labels, scores):
    """Ranks with ties counted half."""
    values, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - (counts - 1) / 2
    positives = labels.sum()
    negatives = len(labels) - positives
    return (ranks[inverse][labels == 1].sum() - positives * (positives + 1) / 2) / (positives * negatives)


def logloss(labels, scores):
    p = np.clip(1 / (1 + np.exp(-scores)), 1e-7, 1 - 1e-7)
    return -np.mean(labels * np.log(p) + (1 - labels) * np.log(1 - p))


def job_of(configs, name, kind):
    """The job of a network on a set: features and data of the set's file, the rest of criteo's file for this network."""
    with open(os.path.join(configs, "criteo-%s.yaml" % kind.replace("_", "-")), encoding="utf-8") as file:
        job = yaml.safe_load(file)
    if name != "criteo":
        with open(os.path.join(configs, "%s-deepfm.yaml" % name), encoding="utf-8") as file:
            own = yaml.safe_load(file)
        job.update({key: own[key] for key in ("data", "features", "labels")})
    job["data"]["statistics"] = "statistics-%s-deepfm" % name
    return job


def call(*words):
    run = subprocess.run(words, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise SystemExit(" ".join(words) + ": " + (run.stderr or run.stdout)[-2000:])


def ours(regatta, job, seed, directory):
    """Trains alone, tables in process, and returns test AUC and examples/s of the training."""
    with tempfile.TemporaryDirectory() as scratch:
        result, path = os.path.join(scratch, "result.json"), os.path.join(scratch, "job.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(job, file)
        call(regatta, "train", "--local", path, "--data", directory, "--result", result, "--set", "seed=%d" % seed, "--set",
             "output=" + os.path.join(scratch, "model"))
        with open(result, encoding="utf-8") as file:
            found = json.load(file)
        return found["auc"], found["examples_per_second"]


def twin(library, job, table, seed):
    """Trains a twin by a loop of a few lines, with the early stopping of the job, and returns the same."""
    import torch
    import twins
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    settings = {**DEFAULTS, **{k: v for k, v in job["model"].items() if k in DEFAULTS}}
    model = twins.LIBRARIES[library](job["model"]["kind"], table.sizes, settings, seed)
    l2 = job["model"].get("regularization", {})
    optimizer = torch.optim.Adam(model.parameters(), lr=job["optimizer"]["learning_rate"])
    loss = torch.nn.BCEWithLogitsLoss()
    ids = {part: torch.from_numpy(of) for part, of in table.ids.items()}
    labels = torch.from_numpy(table.labels["train"])
    stopping, size = job["early_stopping"], job["batch_size"]
    higher = stopping["metric"] == "auc"
    best, since, test, seconds, trained = None, 0, None, 0.0, 0
    draws = np.random.RandomState(seed)
    for _ in range(job["epochs"]):
        model.train()
        begin = time.monotonic()
        order = torch.from_numpy(draws.permutation(len(labels)))
        for at in range(0, len(labels), size):
            batch = order[at:at + size]
            optimizer.zero_grad()
            penalized = loss(model(ids["train"][batch]), labels[batch])
            for name, weight in model.named_parameters():
                decay = l2.get("l2_linear", 0) if weight.dim() == 2 and weight.shape[1] == 1 else l2.get("l2_embedding", 0)
                if decay and "embedding" in name:  # of the rows of the batch, as ours
                    field = int("".join(c for c in name.split("embedding")[-1] if c.isdigit()) or -1)
                    rows = torch.unique(ids["train"][batch][:, field])
                    penalized = penalized + decay / 2 * weight[rows].pow(2).sum()
            penalized.backward()
            optimizer.step()
        seconds += time.monotonic() - begin
        trained += len(labels)
        model.eval()
        with torch.no_grad():
            scores = model(ids["validation"]).numpy()
            value = (auc if higher else logloss)(table.labels["validation"], scores)
            if best is None or (value > best if higher else value < best):
                best, since, test = value, 0, auc(table.labels["test"], model(ids["test"]).numpy())
            else:
                since += 1
        if since == stopping.get("patience", 2):
            break
    return test, trained / seconds


def reference(table):
    """Test AUC of scikit-learn's logistic regression on the same ids, its C chosen on the validation rows."""
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import LogisticRegression
    offsets = np.concatenate([[0], np.cumsum(table.sizes)[:-1]])
    matrix = {}
    for part, ids in table.ids.items():
        count = len(ids)
        matrix[part] = csr_matrix((np.ones(ids.size, dtype=np.float32), (ids + offsets).ravel(),
                                   np.arange(0, ids.size + 1, ids.shape[1])), shape=(count, sum(table.sizes)))
    best = None
    for c in [0.003, 0.01, 0.03, 0.1, 0.3, 1]:
        model = LogisticRegression(C=c, max_iter=2000).fit(matrix["train"], table.labels["train"])
        value = auc(table.labels["validation"], model.decision_function(matrix["validation"]))
        if best is None or value > best[0]:
            best = value, c, auc(table.labels["test"], model.decision_function(matrix["test"]))
    return best[2], best[1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--regatta", required=True)
    parser.add_argument("--configs", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sets", nargs="*", default=["criteo", "avazu", "census"])
    parser.add_argument("--kinds", nargs="*", default=KINDS)
    parser.add_argument("--libraries", nargs="*", default=["deepctr-torch", "FuxiCTR"])
    args = parser.parse_args()
    worse = []
    for name in args.sets:
        directory = os.path.join(args.data, DIRECTORIES[name])
        first = job_of(args.configs, name, "deepfm")
        lacking = [f for f in first["data"]["files"] + first["data"].get("test_files", [])
                   if not os.path.exists(os.path.join(directory, f))]
        if lacking:
            print("\n%s is left out: %s lacks %s" % (name, directory, ", ".join(lacking)), flush=True)
            continue
        file = os.path.join(args.configs, "%s-deepfm.yaml" % name)
        call(args.regatta, "analyze", file, "--data", directory, "--overwrite")
        table = features.Table(first, directory)
        value, c = reference(table)
        print("\n%s: %s rows; scikit-learn's logistic regression, C = %g: test AUC %.4f\n" % (
            name, " + ".join("%d %s" % (len(of), part) for part, of in table.labels.items()), c, value))
        print("| network | " + " | ".join(["Regatta: AUC", "examples/s"] + [
            x for library in args.libraries for x in (library + ": AUC", "examples/s")]) + " |")
        print("|---" * (3 + 2 * len(args.libraries)) + "|", flush=True)
        for kind in args.kinds:
            job = job_of(args.configs, name, kind)
            runs = [ours(args.regatta, job, seed, directory) for seed in range(1, args.seeds + 1)]
            mine = np.mean(runs, axis=0)
            cells = ["%.4f" % mine[0], "%.0f" % mine[1]]
            for library in args.libraries:
                other = np.mean([twin(library, job, table, seed) for seed in range(1, args.seeds + 1)], axis=0)
                cells += ["%.4f" % other[0], "%.0f" % other[1]]
                if mine[0] < other[0] - 0.002:
                    worse.append("%s on %s: %.4f below %s" % (kind, name, other[0] - mine[0], library))
            print("| %s | %s |" % (kind, " | ".join(cells)), flush=True)
    print()
    for line in worse:
        print("more than 0.002 below its twin: " + line)
    sys.exit(1 if worse else 0)


if __name__ == "__main__":
    main()
