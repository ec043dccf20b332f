"""Writes networks.json: outputs, losses and gradients by PyTorch's automatic differentiation.

Run: python3 networks.py > networks.json    (PyTorch 2, any device; all numbers in float64, parameters exact in float32)

One batch of 4 examples with 2 dense features and slots of 1, 1 and 3 ids; each id has a value, -1 is no id.
Networks: DLRM (Naumov et al. 2019), DIN (Zhou et al. 2018), MMoE (Ma et al. 2018), ESMM (Ma et al. 2018), matrix
factorization with biases (Koren et al. 2009), two towers with in-batch softmax (Yi et al. 2019).
Losses: weighted log loss, cross entropy, squared, Huber, Poisson, RankNet (Burges et al. 2005), ListNet (Cao et al. 2007).
Parameters are in the order in which the blocks have them: weight and bias of each linear layer.
"""
import json

import torch

torch.manual_seed(26)
torch.set_default_dtype(torch.float64)
F = torch.nn.functional

WIDTHS, DENSE, DIM, HIDDEN, IDS = [1, 1, 3], 2, 3, [4, 3], 7
ids = [[0, 1, 2, 3, -1], [4, 1, 5, 5, 2], [0, 6, -1, -1, -1], [4, 3, 6, -1, -1]]
values = [[1, 1, 0.5, 0.5, 0], [1, 1, 0.25, 0.25, 0.5], [1, 1, 0, 0, 0], [1, 1, 1, 0, 0]]
dense = [[0.5, -1.25], [2.0, 0.75], [-0.375, 0.0], [1.5, 1.0]]
numbers = torch.tensor(dense)


class Net:
    def __init__(self):
        self.parameters, self.tables = [], {}

    def parameter(self, *shape):
        p = (torch.randn(*shape) * 0.5).float().double().requires_grad_()
        self.parameters.append(p)
        return p

    def table(self, name, dim):
        self.tables[name] = (torch.randn(IDS, dim) * 0.5).float().double().requires_grad_()
        return self.tables[name]

    def layers(self, x, widths, last_relu=False, activation=torch.relu):
        for i, units in enumerate(widths):
            w, b = self.parameter(units, x.shape[1]), self.parameter(units)
            x = x @ w.T + b
            if i < len(widths) - 1 or last_relu:
                x = activation(x)
        return x


def row(table, example, column):
    return table[ids[example][column]] if ids[example][column] >= 0 else torch.zeros(table.shape[1])


def pooled(table):
    rows = []
    for example in range(len(ids)):
        column, slots = 0, []
        for width in WIDTHS:
            slots.append(sum(values[example][c] * row(table, example, c) for c in range(column, column + width)))
            column += width
        rows.append(torch.stack(slots))
    return torch.stack(rows)


def flat(net):
    return torch.cat([pooled(net.table("embedding", DIM)).reshape(len(ids), -1), numbers], 1)


def bce(logits, labels, weight=1.0):
    """Mean over all examples, in which those without the label count 0."""
    y = torch.tensor([0.0 if v is None else float(v) for v in labels])
    known = torch.tensor([0.0 if v is None else 1.0 for v in labels])
    return weight * (known * F.binary_cross_entropy_with_logits(logits, y, reduction="none")).mean()


def dlrm(net):
    vectors = pooled(net.table("embedding", DIM))
    bottom = net.layers(numbers, [4, DIM], last_relu=True)
    all_ = torch.cat([bottom.unsqueeze(1), vectors], 1)
    pairs = [(all_[:, i] * all_[:, j]).sum(1, keepdim=True) for i in range(all_.shape[1]) for j in range(i)]
    out = net.layers(torch.cat([bottom] + pairs, 1), HIDDEN + [1])
    return out, bce(out[:, 0], [1, 0, 0, 1]), [[1], [0], [0], [1]]


def din(net):
    table = net.table("embedding", DIM)
    weights = [(net.parameter(o, i), net.parameter(o)) for i, o in ((4 * DIM, 4), (4, 3), (3, 1))]
    rows = []
    for e in range(len(ids)):
        query, interest = row(table, e, 1), torch.zeros(DIM)
        for c in (2, 3, 4):
            if ids[e][c] >= 0:
                key = row(table, e, c)
                x = torch.cat([query, key, query - key, query * key])
                for i, (w, b) in enumerate(weights):
                    x = w @ x + b
                    x = torch.sigmoid(x) if i < 2 else x
                interest = interest + x * key
        rows.append(torch.cat([values[e][0] * row(table, e, 0), values[e][1] * query, interest, numbers[e]]))
    out = net.layers(torch.stack(rows), HIDDEN + [1])
    return out, bce(out[:, 0], [1, 0, 0, 1]), [[1], [0], [0], [1]]


def mmoe(net):
    x = flat(net)
    experts = torch.stack([net.layers(x, HIDDEN, last_relu=True) for _ in range(2)], 1)
    outs = []
    for _ in range(2):
        gate = torch.softmax(x @ net.parameter(2, x.shape[1]).T, 1)
        outs.append(net.layers((experts * gate.unsqueeze(2)).sum(1), [2, 1]))
    out = torch.cat(outs, 1)
    labels = [[1, None], [0, 1], [0, 0], [1, None]]
    return out, bce(out[:, 0], [l[0] for l in labels]) + bce(out[:, 1], [l[1] for l in labels], 0.5), labels


def esmm(net):
    x = flat(net)
    click, conversion = net.layers(x, HIDDEN + [1]), net.layers(x, HIDDEN + [1])
    both = torch.sigmoid(click) * torch.sigmoid(conversion)
    labels = [[1, 1], [0, 0], [1, 0], [0, 0]]
    loss = bce(click[:, 0], [l[0] for l in labels]) + F.binary_cross_entropy(both[:, 0], torch.tensor([1.0, 0, 0, 0]))
    return torch.cat([click, torch.log(both / (1 - both))], 1), loss, labels


def matrix_factorization(net):
    vectors, biases = net.table("embedding", DIM), net.table("weights", 1)
    bias = net.parameter(1)
    out = torch.stack([bias + row(biases, e, 0) + row(biases, e, 1) + (row(vectors, e, 0) * row(vectors, e, 1)).sum()
                       for e in range(len(ids))])
    return out, (0.5 * (out[:, 0] - torch.tensor([1.0, 3, 2.5, 0])) ** 2).mean(), [[1], [3], [2.5], [0]]


def two_towers(net):
    slots = pooled(net.table("embedding", DIM))
    user = net.layers(torch.cat([slots[:, 0], numbers[:, :1]], 1), [4, 3])
    item = net.layers(torch.cat([slots[:, 1], slots[:, 2], numbers[:, 1:]], 1), [4, 3])
    u, v = (t / (t.square().sum(1, keepdim=True) + 1e-12).sqrt() for t in (user, item))
    labels = [1.0, 0.0, 1.0, 2.0]  # rewards
    frequencies = torch.tensor([1.0, 0.5, 0.5, 1.0])  # of the items A, E, F, A in the second batch, after A, B, C, D
    logits = u @ v.T / 0.5 - torch.log(frequencies)
    loss = -(torch.tensor(labels) * torch.log_softmax(logits, 1).diagonal()).mean()
    return torch.cat([u, v], 1), loss, [[l] for l in labels]


def listed(t):
    return t.detach().flatten().tolist()


def network(build):
    net = Net()
    out, loss, labels = build(net)
    loss.backward()
    both = lambda t: {"value": listed(t), "gradient": listed(t.grad)}
    return {"kind": build.__name__, "outputs": listed(out), "loss": loss.item(), "labels": labels,
            "parameters": [both(p) for p in net.parameters], "tables": {n: both(t) for n, t in net.tables.items()}}


def loss(name, labels, compute, width=1):
    outputs = (torch.randn(len(labels), width) * 1.5).float().double().requires_grad_()
    value = compute(outputs, torch.tensor([l[-1] if isinstance(l, list) else l for l in labels], dtype=torch.float64))
    value.backward()
    return {"name": name, "labels": labels, "outputs": listed(outputs), "loss": value.item(), "gradient": listed(outputs.grad)}


def huber(x, y):
    error = (x[:, 0] - y).abs()
    return torch.where(error <= 0.7, 0.5 * error ** 2, 0.7 * (error - 0.35)).mean()


def groups(labels):
    members = {}
    for i, label in enumerate(labels):
        members.setdefault(label[0], []).append(i)
    return members.values()


RANKED = [["a", 2], ["a", 0], ["b", 1], ["a", 1], ["b", 0], ["b", 1], ["c", 1]]


def ranknet(x, y):
    total = 0.0
    for g in groups(RANKED):
        pairs = [(i, j) for i in g for j in g if y[i] > y[j]]
        if pairs:
            total = total + len(g) * sum(F.softplus(x[j, 0] - x[i, 0]) for i, j in pairs) / len(pairs)
    return total / len(y)


def listnet(x, y):
    return sum(len(g) * -(torch.softmax(y[g], 0) * torch.log_softmax(x[g, 0], 0)).sum() for g in groups(RANKED)) / len(y)


def weighted(x, y):
    return F.binary_cross_entropy_with_logits(x[:, 0], y, pos_weight=torch.tensor(2.5))


print(json.dumps({
    "ids": ids, "values": values, "dense": dense,
    "networks": [network(n) for n in (dlrm, din, mmoe, esmm, matrix_factorization, two_towers)],
    "losses": [
        loss("binary", [1, 0, 0, 1, 1], weighted),
        loss("classes", [2, 0, 1, 1, 2], lambda x, y: F.cross_entropy(x, y.long()), 3),
        loss("squared", [0.5, -2, 3.25], lambda x, y: (0.5 * (x[:, 0] - y) ** 2).mean()),
        loss("huber", [0.5, -2, 3.25, 0.1, -0.4], huber),
        loss("poisson", [0, 3, 1, 7], lambda x, y: (x[:, 0].exp() - y * x[:, 0]).mean()),
        loss("pairwise", RANKED, ranknet),
        loss("listwise", RANKED, listnet)]}))
