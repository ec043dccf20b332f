"""A rank of a Regatta job that is not written in Java. It trains logistic regression (configs/logistic-regression.yaml)
in async or sync mode beside Regatta's own ranks, from the join to the end of the job. docs/protocol-ranks.md and
docs/protocol-gathers.md explain each call, docs/protocol.md the proof of the token. It needs grpcio, protobuf and numpy, and the modules that grpc_tools.protoc
makes of shared-protocol's .proto files. run.sh beside this file starts it."""
import argparse
import base64
import collections
import hmac
import os
import queue
import re
import secrets
import struct
import sys
import threading
import time

import grpc
import numpy as np
from regatta import gather_pb2 as gt
from regatta import parameter_server_pb2 as ps
from regatta import parameter_server_pb2_grpc as ps_grpc
from regatta import rendezvous_pb2 as rv
from regatta import rendezvous_pb2_grpc as rv_grpc
from regatta import tensor_pb2 as t

MASK = (1 << 64) - 1
OWNER = 0x6f776e6572
TABLE = "weights"
BIAS = "bias"
SITTING_OUT = (1 << 63) - 1
REFUSED = (grpc.StatusCode.ABORTED, grpc.StatusCode.FAILED_PRECONDITION)
CHANNEL = [("grpc.max_receive_message_length", 8 << 20)]


def mix(z):
    """SplitMix64's output function."""
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9 & MASK
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb & MASK
    return z ^ (z >> 31)


def shard_of(row_id, shards):
    """The shard that owns a row of a sparse table."""
    return (mix(row_id & MASK ^ OWNER) >> 32) * shards >> 32


def base64url(octets):
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


class CallDetails(collections.namedtuple("CallDetails", "method timeout metadata credentials wait_for_ready compression"),
                  grpc.ClientCallDetails):
    """What grpcio hands on with a call."""


class TokenProof(grpc.UnaryUnaryClientInterceptor, grpc.StreamStreamClientInterceptor):
    """Proves the token in every call of a channel, and sends it in none."""

    RENEW_SECONDS = 300

    def __init__(self, channel, token):
        self.channel, self.token, self.key = channel, token, self.mac(token, "regatta call proof")
        self.lock, self.greeted, self.number = threading.Lock(), None, 0

    @staticmethod
    def mac(key, text):
        return hmac.digest(key, text.encode(), "sha256")

    def proof(self, *lines):
        return base64url(self.mac(self.key, "\n".join(lines)))

    def greet(self, method):
        """Takes a challenge of the server, once it has proved that it knows the token."""
        client = base64url(secrets.token_bytes(16))
        self.name = f"key={base64url(self.mac(self.token, 'regatta token id'))[:12]}, client={client}"
        challenge = ""
        try:
            self.channel.unary_unary(method)(b"", metadata=[("authorization", f"Regatta-HMAC {self.name}")],
                                             wait_for_ready=True)
        except grpc.RpcError as e:
            challenge = dict(e.trailing_metadata() or ()).get("www-authenticate", "")
        answer = re.fullmatch(r"Regatta-HMAC client=(\S+), server=(\S+), proof=(\S+)", challenge)
        if not answer or not hmac.compare_digest(answer[3], self.proof("server", client, answer[2])):
            fail(f"the server of {method} does not prove that it knows the job's token, so nothing was sent to it: "
                 "--token-file names the file that node.token_file of the job's other processes names")
        self.client, self.server, self.number, self.greeted = client, answer[2], 0, time.monotonic()

    def proved(self, details):
        with self.lock:
            if self.greeted is None or time.monotonic() - self.greeted > self.RENEW_SECONDS:
                self.greet(details.method)
            self.number += 1
            number = str(self.number)
            proof = self.proof("client", self.client, self.server, number, "POST", details.method)
            header = f"Regatta-HMAC {self.name}, server={self.server}, number={number}, proof={proof}"
        return CallDetails(details.method, details.timeout, [*(details.metadata or ()), ("authorization", header)],
                           details.credentials, details.wait_for_ready, details.compression)

    def intercept_unary_unary(self, continuation, details, request):
        return continuation(self.proved(details), request)

    def intercept_stream_stream(self, continuation, details, requests):
        return continuation(self.proved(details), requests)


def connect(endpoint, token, options=()):
    """A channel whose calls prove the token, unless that is None."""
    channel = grpc.insecure_channel(endpoint, options)
    return grpc.intercept_channel(channel, TokenProof(channel, token)) if token else channel


class Group:
    """A seat in the job's group at the rendezvous: joined, kept by heartbeats, left."""

    def __init__(self, endpoint, job, rank, trainers, token):
        self.token = token
        self.calls = rv_grpc.RendezvousStub(connect(endpoint, token, CHANNEL))
        self.beats = rv_grpc.RendezvousStub(connect(endpoint, token, [("grpc.use_local_subchannel_pool", 1)]))
        seat = self.calls.Join(rv.JoinRequest(group=job, world_size=trainers, rank=rank, timeout_ms=120_000,
                                              member="foreign rank in Python"), wait_for_ready=True)
        self.job, self.rank, self.incarnation, self.secret = job, seat.rank, seat.incarnation, seat.secret
        self.period = seat.lease_ms / 4000
        self.step, self.examples, self.number = -1, 0, 0
        self.sync = None  # the model, once registered in a mode whose steps wait for every trainer
        self.over = threading.Event()
        threading.Thread(target=self.live, daemon=True).start()

    def me(self):
        return {"group": self.job, "rank": self.rank, "incarnation": self.incarnation}

    def beat(self):
        now = rv.HeartbeatRequest(step=self.step, examples=self.examples, **self.me())
        self.beats.Heartbeat(now, timeout=self.period)

    def live(self):
        while not self.over.wait(self.period):
            try:
                self.beat()
            except grpc.RpcError as e:
                if e.code() in REFUSED and not self.over.is_set():
                    fail("the rendezvous has given this rank up: " + e.details())

    def gather(self, key, payload, **reduction):
        return self.calls.Gather(rv.GatherRequest(key=key, payload=payload, **reduction, **self.me()))

    def tell(self, key, message):
        """All ranks' messages, in the order of ranks."""
        return [type(message).FromString(p) for p in self.gather(key, message.SerializeToString()).payloads]

    def reduce(self, operation, values=()):
        """The sum over all ranks, in slices; without values a barrier. In sync mode nobody waits for its steps meanwhile."""
        key = self.numbered(operation)
        if not self.sync:
            return self.sum(key, values)
        self.sync.sit_out()
        out = self.sum(key, values)
        open_from = self.sync.register()
        mine = gt.ResumeStep(step=max(*open_from, self.step + 1))
        resume = max(told.step for told in self.tell(f"{key}/resume", mine))
        self.sync.register(resume, [s for s, step in zip(self.sync.shards, open_from) if step < resume])
        self.step = resume - 1
        return out

    def sum(self, key, values):
        attempt, at, out, first = 0, 0, [], None
        while True:
            sliced = key + (f"/again-{attempt}" if attempt else "") + (f"/from-{at}" if at else "")
            part = values[at:at + 8192]
            reply = self.gather(sliced, struct.pack(f"<{len(part)}d", *part), reduce="sum", values=len(values))
            first = first or list(reply.ranks)
            if first != list(reply.ranks):  # a rank was lost between two slices
                attempt, at, out, first = attempt + 1, 0, [], None
                continue
            out += floats64(reply.payloads[0])
            at += 8192
            if at >= len(values):
                return out

    def by_the_lowest(self, operation):
        """Waits until the lowest rank that can has done something for all; this one never can."""
        key, attempt, chosen = self.numbered(operation), 0, 0
        while chosen >= 0:
            ballots = self.tell(f"{key}/{attempt}", gt.ElectionBallot(candidate=self.rank))
            for ballot in ballots:
                if ballot.state == gt.ElectionBallot.DONE:
                    return ballot.result
            chosen = next((b.candidate for b in ballots if b.state == gt.ElectionBallot.ABLE), -1)
            attempt += 1
        return gt.ElectionResult()

    def numbered(self, operation):
        self.number += 1
        return f"{operation}-{self.number - 1}"

    def leave(self):
        self.over.set()
        self.beat()
        self.calls.Leave(rv.LeaveRequest(succeeded=True, secret=self.secret, **self.me()))


class Shard:
    """One tensor stream to one shard."""

    def __init__(self, where, group):
        self.where, self.group, self.requests, self.sequence, self.trained = where, group, 0, 0, 0
        self.out, self.answers = queue.Queue(), {}
        channel = connect(f"{where.host}:{where.port}", group.token, CHANNEL)
        self.stream = ps_grpc.ParameterShardStub(channel).Exchange(iter(self.out.get, None))
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        chunks = {}
        try:
            for m in self.stream:
                chunks.setdefault(m.request, []).append(m)
                if len(chunks[m.request]) >= max(1, m.chunk_count):
                    self.answers[m.request].put(chunks.pop(m.request))
        except grpc.RpcError as e:
            fail(f"shard {self.where.index} has ended the stream: {e.code().name}: {e.details()}")

    def send(self, chunks=(), **body):
        """Sends a request of these chunks, each with the body; returns what waits for its answer."""
        self.requests += 1
        number, answer, chunks = self.requests, queue.Queue(), chunks or [t.TensorMessage()]
        self.answers[number] = answer
        for i, chunk in enumerate(chunks):
            m = t.TensorMessage(request=number, job=self.group.job, shard=self.where.index,
                                shard_incarnation=self.where.incarnation, rank=self.group.rank,
                                incarnation=self.group.incarnation, chunk_index=i, chunk_count=len(chunks), **body)
            m.MergeFrom(chunk)
            self.out.put(m)
        return answer.get

    def push(self, step, version, examples, rows, dense):
        """Gradients of one step; a shard without data gets an empty push, for its clock."""
        self.sequence += 1
        self.trained += examples
        done = t.TrainerProgress(local_steps=step + 1, exchanges=step + 1, learning_rate_step=step + 1,
                                 examples=self.trained) if examples else None
        push = t.Push(step=step, version=version, finite=True)
        push.contributors.add(rank=self.group.rank, incarnation=self.group.incarnation, sequence=self.sequence,
                              weight=examples, progress=done)
        return self.send([chunk for chunk in (rows, dense) if chunk], push=push)

    def pull(self, step, ids, dense, read_only=False):
        chunks = [row_chunk(ids, None)] if len(ids) else []
        return self.send(chunks, pull=t.Pull(min_step=step, dense=dense, read_only=read_only))


class Model:
    """A weight per feature, in a sparse table, and a bias: values on the shards, gradients from here."""

    def __init__(self, group, servers, trainers, mode):
        maps = []
        for i, endpoint in enumerate(servers):
            stub = ps_grpc.ParameterServerStub(connect(endpoint, group.token))
            maps += stub.ShardMap(ps.ShardMapRequest(servers=servers, server_index=i, trainers=trainers),
                                  wait_for_ready=True).shards
        self.group = group
        self.shards = [Shard(where, group) for where in sorted(maps, key=lambda s: s.index)]
        self.versions = [0] * len(self.shards)
        ftrl = t.Optimizer(kind="ftrl", learning_rate=t.LearningRate(kind="CONSTANT", base=0.1),
                            hyperparameters={"l2": t.Hyperparameter(number=0.0001)})
        job = t.RegisterTrainer(mode=mode.upper(), trainers=trainers, nan_policy="FAIL", shards=len(self.shards),
                                min_block=8192, seed=1, dense_optimizer=ftrl)
        job.dense.add(name=BIAS, shape=[1])
        job.sparse.add(name=TABLE, dim=1, initializer="CONSTANT", optimizer=ftrl)
        self.job = job
        self.register()

    def register(self, step=0, shards=None):
        """Registers at all shards, or at these; returns from which step each of them waits for this rank."""
        asked = self.shards if shards is None else shards
        register = t.Register(step=step, trainer=self.job)
        return [reply[0].register_ack.step for reply in answers([s.send(register=register) for s in asked])]

    def sit_out(self):
        """Until it registers again, no shard waits for steps of this rank."""
        answers([s.push(SITTING_OUT, 0, 0, None, None) for s in self.shards])

    def owned(self, ids):
        owners = np.array([shard_of(int(i), len(self.shards)) for i in ids])
        return [np.flatnonzero(owners == s) for s in range(len(self.shards))]

    def pull(self, step, ids, read_only=False):
        """Weights of these ids, and the bias; the one part of the one dense variable is on shard 0."""
        owned, weights, bias = self.owned(ids), np.zeros(len(ids), np.float32), 0.0
        answers = [s.pull(step, ids[owned[i]], i == 0, read_only) for i, s in enumerate(self.shards)]
        for i, answer in enumerate(answers):
            for m in answer():
                if m.chunk_index == 0:
                    self.versions[i] = m.pull_values.version
                if m.HasField("rows"):
                    at = owned[i][m.rows.offset:m.rows.offset + m.rows.row_count]
                    weights[at] = np.frombuffer(m.payload, "<f4", offset=8 * m.rows.row_count)
                elif m.payload:
                    bias = np.frombuffer(m.payload, "<f4")[0]
        return weights, bias

    def push(self, step, examples, ids, gradient, bias_gradient):
        owned, sent = self.owned(ids), []
        for i, s in enumerate(self.shards):
            rows = row_chunk(ids[owned[i]], gradient[owned[i]]) if len(owned[i]) else None
            bias = t.TensorMessage(dense=t.DenseSlice(total=1), payload=np.float32(bias_gradient).tobytes())
            sent.append(s.push(step, self.versions[i], examples, rows, bias if i == 0 else None))
        return max(ack[0].push_ack.staleness for ack in answers(sent))

    def leave(self):
        answers([s.send(leave=t.Leave(succeeded=True)) for s in self.shards])
        for s in self.shards:
            s.out.put(None)  # half-closes; the shard answers with status 0


def answers(asked):
    return [answer() for answer in asked]


def row_chunk(ids, values):
    """Ids, and behind them a float of each; fits one message here, and would be cut at `chunk_bytes` else."""
    payload = np.ascontiguousarray(ids, "<i8").tobytes()
    payload += b"" if values is None else np.ascontiguousarray(values, "<f4").tobytes()
    dim = 0 if values is None else 1
    slice_of = t.RowSlice(table=TABLE, total=len(ids), row_count=len(ids), dim=dim)
    return t.TensorMessage(rows=slice_of, payload=payload)


def floats64(payload):
    return list(struct.unpack(f"<{len(payload) // 8}d", payload))


def fixed(values):
    """A sum in units of 2^-30, as the high part and the low 32 bits, which stay exact when others' are added."""
    units = int(np.floor(values.astype(np.float64) * 2**30 + 0.5).sum())
    return [units >> 32, units & 0xffffffff]


def metric_sums(p, labels, buckets):
    """What ranks add up for AUC, accuracy and log loss: histograms of both classes, and sums."""
    bins = (p * np.float32(buckets)).astype(int)
    limited = np.clip(p.astype(np.float64), 1e-7, 1 - 1e-7)
    error = np.abs(p.astype(np.float64) - labels)
    positives, negatives = (np.bincount(bins[labels == label], minlength=buckets + 1) for label in (1, 0))
    correct = int(((p >= 0.5) == (labels == 1)).sum())
    losses = -np.log(np.where(labels == 1, limited, 1 - limited))
    return [*positives, *negatives, correct, *fixed(losses), *fixed(p), *fixed(error), *fixed(error * error)]


def read(path, rank, trainers, size):
    """This rank's batches of a LibSVM file that is read in its order: of each window of `trainers` batches its part.
    An example is its label, 0 or 1, and the ids and values of its features."""
    examples = []
    with open(path) as lines:
        for line in lines:
            label, *features = line.split()
            pairs = [f.split(":") for f in features]
            ids, values = [int(k) for k, v in pairs], [float(v) for k, v in pairs]
            examples.append((float(label) > 0, np.array(ids), np.array(values)))
    windows = [examples[at:at + trainers * size] for at in range(0, len(examples), trainers * size)]
    return [w[len(w) * rank // trainers:len(w) * (rank + 1) // trainers] for w in windows]


def is_generated(directory):
    """Whether rank 0 generates the data: nothing is there, or what was generated before."""
    names = os.listdir(directory) if os.path.isdir(directory) else []
    return all(n.startswith(".") for n in names) or "generated.json" in names or "generated.unfinished" in names


def forward(model, step, batch, read_only=False):
    labels = np.array([e[0] for e in batch], np.float32)
    counts = [len(e[1]) for e in batch]
    ids, at = np.unique(np.concatenate([e[1] for e in batch]), return_inverse=True)
    example, values = np.repeat(np.arange(len(batch)), counts), np.concatenate([e[2] for e in batch])
    weights, bias = model.pull(step, ids, read_only)
    odds = np.bincount(example, weights[at] * values, len(batch)) + bias
    return labels, (1 / (1 + np.exp(-odds))).astype(np.float32), ids, at, example, values


def log_loss(p, labels):
    return -np.log(np.clip(np.where(labels == 1, p, 1 - p), 1e-12, 1)).sum()


def fail(why):
    sys.stderr.write(f"rank.py: {why}\n")
    sys.stderr.flush()
    os._exit(1)


def main():
    options = argparse.ArgumentParser()
    for name in ("rendezvous", "servers", "job", "data"):
        options.add_argument("--" + name, required=True)
    options.add_argument("--token-file", help="a file with the job's token alone; without one the job has none")
    options.add_argument("--mode", choices=("async", "sync"), default="async")
    for name, value in (("rank", 1), ("trainers", 2), ("epochs", 5), ("batch", 64)):
        options.add_argument("--" + name, type=int, default=value)
    o = options.parse_args()
    generated = is_generated(o.data)  # before the join: afterwards rank 0 may have begun
    token = None
    if o.token_file:
        with open(o.token_file, "rb") as file:
            token = file.read().strip()
    group = Group(o.rendezvous, o.job, o.rank, o.trainers, token)
    print(f"rank {group.rank} has joined, incarnation {group.incarnation}", flush=True)

    # What Regatta's LogisticRegression gathers, in its order.
    if generated:
        group.reduce("barrier")  # rank 0 has generated the data; nobody has registered
    model = Model(group, o.servers.split(","), o.trainers, o.mode)
    group.sync = model if o.mode == "sync" else None
    group.tell("start", gt.StartReport(rank=group.rank, trains=True))  # from step 0; rank 0 has set the bias
    train = read(o.data + "/a9a", group.rank, o.trainers, o.batch)
    began, stalest, last = time.time(), 0, []
    for _ in range(o.epochs):
        last = []
        for batch in train:
            step = group.step + 1
            labels, p, ids, place, example, values = forward(model, step, batch)
            error = (p - labels) / len(batch)  # the gradient of the mean loss
            gradient = np.bincount(place, error[example] * values, len(ids))
            stalest = max(stalest, model.push(step, len(batch), ids, gradient, error.sum()))
            last.append((p, labels))
            group.step, group.examples = step, group.examples + len(batch)
    seconds, steps = time.time() - began, group.step + 1

    p, labels = (np.concatenate([of[i] for of in last]) for i in (0, 1))
    group.reduce("all-reduce", [group.examples, 0])  # that somebody has trained something
    loss = group.reduce("all-reduce", [log_loss(p, labels), len(labels)])
    each = len(labels)
    group.reduce("global metrics", metric_sums(p, labels, 1 << 12))
    p, labels = (np.concatenate([of[i] for of in last[-20:]]) for i in (0, 1))
    group.reduce("global metrics", metric_sums(p, labels, 1 << 12))
    group.reduce("all-reduce", [each, each])  # coverage of the one slot
    group.reduce("barrier")  # all have pushed everything
    tested = [forward(model, 0, part, True)[:2] for part in read(o.data + "/a9a.t", group.rank, o.trainers, 1024)]
    labels, p = (np.concatenate([of[i] for of in tested]) for i in (0, 1))
    group.reduce("global metrics", metric_sums(p, labels, 1 << 16))
    group.reduce("all-reduce", [0])  # bad lines

    # What every rank gathers at its end.
    group.beat()
    if group.sync:
        model.sit_out()
    mine = gt.EndReport(rank=group.rank, process_id=os.getpid(), steps=steps, examples=group.examples, seconds=seconds,
                        staleness_max=stalest, metrics={"loss": loss[0] / loss[1]})
    there = group.tell("end of the run", mine)
    group.by_the_lowest("save")
    digest = group.by_the_lowest("hash of all parameters")
    group.by_the_lowest("result file")
    model.leave()
    group.leave()
    print(f"rank {group.rank} has ended: {steps} steps, {group.examples} examples of {sum(r.examples for r in there)}, "
          f"loss of all {loss[0] / loss[1]:.4f}, hash {digest.digest:016x}", flush=True)


if __name__ == "__main__":
    main()
