package io.regatta.fleet.simulation;

import io.regatta.collective.CollectiveOptions;
import io.regatta.collective.CollectiveRank;
import io.regatta.collective.Collectives;
import io.regatta.collective.Membership;
import io.regatta.core.client.GeoState;
import io.regatta.core.client.ParameterClient;
import io.regatta.core.client.ParameterClient.Values;
import io.regatta.core.collective.ReduceOp;
import io.regatta.core.collective.Tensor;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.ShardLink;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.exchange.TrainerProgress;
import io.regatta.core.group.WorldSize;
import io.regatta.core.loop.Loop;
import io.regatta.node.admin.Waits;
import io.regatta.node.directory.Directory;
import io.regatta.node.group.GroupMembership;
import io.regatta.node.group.MemberContext;
import io.regatta.protocol.heter.BatchToCompute;
import io.regatta.protocol.heter.CutTensors;
import io.regatta.protocol.heter.TensorData;
import io.regatta.protocol.network.Network;
import io.regatta.protocol.shard.GrpcShardLink;
import io.regatta.protocol.shard.ReopeningShardLink;
import io.regatta.protocol.stream.StreamPaths;
import io.regatta.protocol.tensor.CutOpen;
import io.regatta.protocol.tensor.CutTensor;
import io.regatta.protocol.tensor.CutTensor.Role;
import io.regatta.trainer.heter.HeterShardLink;
import io.regatta.trainer.heter.HeterWorkers;
import io.regatta.trainer.heter.SendingRank;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

/** One trainer of a {@link SimulatedHeterJob}. */
final class SimulatedHeterTrainer {
  private static final int PORT = 1;
  private static final double WEIGHT = 30;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  final Loop loop;
  final float[] values = new float[SimulatedDenseWorker.PART_SIZE];
  final Promise<Void> over = Promise.promise();
  long made;
  private final SimulatedHeterJob job;
  private final int number;
  private final Network network;
  private final GroupMembership membership;
  private final HeterWorkers remote;
  private final GeoState geo;
  private final DenseMemory memory = DenseMemory.of(values);
  ParameterClient client;
  private Collectives ranks;
  private long exchanges;

  SimulatedHeterTrainer(SimulatedHeterJob job, int number) {
    this.job = job;
    this.number = number;
    loop = job.cluster.time.loop("trainer " + number);
    network = job.cluster.network.of(loop);
    membership = new GroupMembership(new MemberContext(loop, network, new Waits(job.cluster.time, 10), "host-"
        + number, PATIENCE),
        job.cluster.rendezvous, SimulatedHeterJob.JOB, "trainer", () -> made - 1, view -> { }, over::tryFail);
    remote = new HeterWorkers(loop, network.streams(), job.cluster.options, () ->
        Future.succeededFuture(List.copyOf(job.directory)),
        PATIENCE, job.isDenseElsewhere(), new SendingRank(SimulatedHeterJob.JOB, this::id, () -> 1, () -> made - 1));
    geo = job.mode.pushesDeltas() && !job.isDenseElsewhere() ? new GeoState(job.spec, number,
        SimulatedHeterJob.GEO_STEPS) : null;
    CollectiveRank rank = new CollectiveRank(loop, host(number), network, CollectiveOptions.defaults()
        .withStream(job.cluster.options),
        new Waits(job.cluster.time, 10));
    job.cluster.network.listen(loop, host(number), PORT).streams(StreamPaths.COLLECTIVE, rank::accept);
    rank.listens(host(number) + ":" + PORT);
    loop.execute(() -> run(rank).onComplete(end -> {
      if (end.succeeded()) {
        over.tryComplete();
      } else {
        over.tryFail(end.cause());
      }
    }));
    over.future().onFailure(e -> membership.leave(false, false)); // as a trainer does whose run has failed
  }

  private static String host(int number) {
    return "trainer-" + number;
  }

  private TrainerId id() {
    return new TrainerId(number, membership.incarnation());
  }

  private Future<Void> run(CollectiveRank rank) {
    return membership.join("trainer " + number, WorldSize.fixed(SimulatedHeterJob.TRAINERS), number,
        "simulated trainer " + number, "",
            PATIENCE)
        .compose(v -> remote.start(List.copyOf(job.directory)))
        .compose(v -> job.mode.needsServers() ? connect() : meet(rank))
        .compose(v -> stage(remote.open(CutOpen.newBuilder().setSignature(SimulatedDenseWorker.PART).build())
            .toCompletableFuture()))
        .compose(v -> barrier("start"))
        .compose(v -> job.mode.needsServers() ? stage(client.pull(0, memory, List.of(), false))
            : Future.succeededFuture((Values) null))
        .compose(this::begin).compose(v -> barrier("end"));
  }

  private static <T> Future<T> stage(CompletableFuture<T> stage) {
    return Future.fromCompletionStage(stage);
  }

  private Future<Void> barrier(String key) {
    return membership.gather(key, com.google.protobuf.Empty.getDefaultInstance()).mapEmpty();
  }

  private Future<Void> meet(CollectiveRank rank) {
    List<String> endpoints = IntStream.range(0, SimulatedHeterJob.TRAINERS).mapToObj(of -> host(of) + ":" + PORT)
        .toList();
    return rank.form(new Membership(SimulatedHeterJob.JOB, 1, number, endpoints)).onSuccess(formed -> ranks = formed)
        .mapEmpty();
  }

  private Future<Void> connect() {
    return remote.home().compose(home -> Future.all(IntStream.range(0, job.spec.shards()).mapToObj(shard -> link(shard,
        home)).toList()))
        .compose(links -> {
          client = new ParameterClient(job.spec, id(), new ArrayList<>(links.<ShardLink>list()), loop);
          return stage(client.register());
        }).compose(v -> stage(client.initialize(new float[values.length])));
  }

  private Future<ShardLink> link(int shard, Directory.Instance home) {
    Future<ShardLink> direct = ReopeningShardLink.open(loop, () -> open("shard-" + shard, StreamPaths.PARAMETER_SHARD,
        shard),
        job.cluster.options.maxRequests()).map(link -> link);
    return !job.isDenseElsewhere() ? direct : Future.all(direct, through(home, shard)).map(both ->
        new HeterShardLink(shard,
        direct.result(), both.resultAt(1), home, to -> through(to, shard), remote,
            job.dense == SimulatedHeterJob.Dense.COLLECTIVE));
  }

  private Future<ShardLink> through(Directory.Instance to, int shard) {
    return open(to.host(), StreamPaths.HETER_EXCHANGE, shard).map(link -> link);
  }

  private Future<GrpcShardLink> open(String host, String path, int shard) {
    return network.streams().open(host, PORT, path).map(stream -> new GrpcShardLink(stream, host + " for shard "
        + shard, shard, 0,
        () -> 1, unused -> Future.failedFuture("not asked for here"), job.cluster.options));
  }

  private Future<Void> begin(Values first) {
    if (geo != null) {
      geo.renew(new Values(first.versions(), values.clone(), List.of(), 0));
    }
    return step(first);
  }

  private Future<Void> step(Values at) {
    if (made == SimulatedHeterJob.STEPS) {
      return Future.succeededFuture();
    }
    return stage(remote.compute(batch()).toCompletableFuture()).compose(result -> {
      float[] gradient = result.tensors().stream().filter(data -> data.tensor().getRole() == Role.DENSE_GRADIENT)
          .map(SimulatedHeterTrainer::floats).findFirst().orElse(null);
      return !job.mode.needsServers() ? sum(gradient) : job.mode.pushesDeltas() ? local(gradient, at)
          : exchange(gradient, at);
    }).compose(this::step);
  }

  private BatchToCompute batch() {
    BatchToCompute batch = CutTensors.batch(id(), made + 1, 3);
    List<TensorData> tensors = new ArrayList<>(batch.tensors());
    if (!job.isDenseElsewhere()) {
      ByteBuffer bytes = ByteBuffer.allocateDirect(values.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
      bytes.asFloatBuffer().put(values);
      tensors.add(new TensorData(CutTensor.newBuilder().setRole(Role.DENSE_VALUES).setName("a")
          .addShape(values.length).build(), bytes));
    }
    return new BatchToCompute(batch.id(), batch.head().toBuilder().setStep(made).addReplicaSteps(made)
        .clearTensors().addAllTensors(tensors.stream().map(TensorData::tensor).toList()).build(), tensors);
  }

  private static float[] floats(TensorData data) {
    float[] values = new float[data.bytes().remaining() / Float.BYTES];
    data.bytes().duplicate().order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(values);
    return values;
  }

  private TrainerProgress after() {
    return new TrainerProgress(made + 1, exchanges + 1, made + 1, List.of(new TrainerProgress.Replica(made + 1,
        List.of())));
  }

  private Future<Values> exchange(float[] gradient, Values at) {
    CompletableFuture<?> pushed = client.push(made, WEIGHT, at.versions(), DenseMemory.of(gradient), List.of(),
        after());
    made++;
    return stage(pushed.thenCombine(client.pull(made, memory, List.of(), false), (ack, next) -> next));
  }

  private Future<Values> local(float[] gradient, Values at) {
    if (geo != null) {
      geo.step(gradient, List.of());
    }
    if ((made + 1) % SimulatedHeterJob.GEO_STEPS > 0) {
      made++;
      return Future.succeededFuture(at);
    }
    float[] delta = geo == null ? null : geo.takeDelta().dense();
    CompletableFuture<?> pushed = client.push(exchanges, 1, at.versions(), DenseMemory.of(delta), List.of(), after());
    exchanges++;
    made++;
    return stage(pushed.thenCombine(client.pull(exchanges, memory, List.of(), true), (ack, next) -> {
      if (geo != null) {
        geo.merge(new Values(next.versions(), values.clone(), List.of(), 0));
      }
      return next;
    }));
  }

  private Future<Values> sum(float[] gradient) {
    return ranks.allReduce(Tensor.of(gradient), ReduceOp.SUM).map(done -> {
      for (int i = 0; i < values.length; i++) {
        values[i] -= gradient[i] / SimulatedHeterJob.TRAINERS;
      }
      made++;
      return null;
    });
  }
}
