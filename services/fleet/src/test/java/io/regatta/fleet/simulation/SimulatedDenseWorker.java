package io.regatta.fleet.simulation;

import io.regatta.collective.CollectiveOptions;
import io.regatta.collective.CollectiveRank;
import io.regatta.collective.Membership;
import io.regatta.core.collective.ReduceOp;
import io.regatta.core.collective.Tensor;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.loop.Loop;
import io.regatta.heterworker.dense.DenseExchange;
import io.regatta.heterworker.dense.DenseHost;
import io.regatta.heterworker.dense.GradientSums;
import io.regatta.node.admin.Waits;
import io.regatta.node.directory.Directory;
import io.regatta.protocol.heter.BatchToCompute;
import io.regatta.protocol.heter.ComputedBatch;
import io.regatta.protocol.heter.HeterHandler;
import io.regatta.protocol.heter.HeterStreamSession;
import io.regatta.protocol.heter.TensorData;
import io.regatta.protocol.parameterserver.Shard;
import io.regatta.protocol.shard.ShardStreamSession;
import io.regatta.protocol.stream.StreamPaths;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.tensor.CutOpen;
import io.regatta.protocol.tensor.CutOpened;
import io.regatta.protocol.tensor.CutResult;
import io.regatta.protocol.tensor.CutSignature;
import io.regatta.protocol.tensor.CutTensor;
import io.regatta.protocol.tensor.CutTensor.Role;
import io.regatta.protocol.testing.SimulatedPort;
import io.regatta.training.heter.PartHost;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/** A heter worker of a simulation that pulls and pushes dense parameters; its part is a formula. */
final class SimulatedDenseWorker implements HeterHandler, PartHost {
  private static final int PORT = 1;
  private static final long COMPUTE_MILLIS = 3;
  /** The cut of a network with one variable. */
  static final int PART_SIZE = 40;
  static final CutSignature PART = CutSignature.newBuilder().addTensors(CutTensor.newBuilder()
      .setRole(Role.DENSE_VALUES)
      .setName("a")).setDense(PART_SIZE).build();

  /** The gradient of a trainer's step on some values. */
  interface Formula {

    float[] gradient(int rank, long step, float[] values);
  }

  /**
   * The kind of a worker.
   *
   * @param denseHere true if it pulls and pushes the dense values; else they come with the batches
   * @param summing number of workers that add up their gradients; 0: none do
   * @param trainers of the job
   */
  record Kind(boolean denseHere, int summing, int trainers, Formula formula) {}

  final Directory.Instance instance;
  final Loop loop;
  /** Receives the ranks of trainers whose streams have ended without a clean end; the worker's log names them. */
  IntConsumer onLost = rank -> { };
  private final Kind kind;
  private final DenseExchange exchange;
  private final DenseHost host;
  private final List<HeterStreamSession> sessions = new ArrayList<>();
  private final List<TensorStream> streams = new ArrayList<>();
  private final ArrayDeque<PartWork> queue = new ArrayDeque<>();
  private boolean dead;

  SimulatedDenseWorker(SimulatedCluster cluster, int index, String job) {
    this(cluster, index, job, new Kind(true, 0, 0, SimulatedDenseWorker::gradient));
  }

  SimulatedDenseWorker(SimulatedCluster cluster, int index, String job, Kind kind) {
    this.kind = kind;
    String name = "heter-" + index;
    loop = cluster.time.loop(name);
    instance = new Directory.Instance(Directory.HETER_WORKER, name, index, name, PORT, 1, Map.of());
    GradientSums sums = kind.summing() == 0 ? null : new GradientSums(job, kind.trainers(), loop);
    exchange = new DenseExchange(job, trainer -> () -> { }, loop, cluster.time.loop(name + " merges"), (shard, incarnation) -> Future.succeededFuture(Shard.newBuilder()
        .setIndex(shard)
        .setHost("shard-" + shard).setPort(PORT).build()), cluster.network.of(loop).streams(), cluster.options, sums);
    host = new DenseHost(this, exchange, kind.denseHere());
    host.ready(PART, false);
    SimulatedPort port = cluster.network.listen(loop, name, PORT)
        .streams(StreamPaths.HETER_COMPUTE, stream -> {
          if (isAlive(stream)) {
            sessions.add(HeterStreamSession.serve(stream, this, cluster.options));
          }
        })
        .streams(StreamPaths.HETER_EXCHANGE, stream -> {
          if (isAlive(stream)) {
            streams.add(stream);
            ShardStreamSession.serve(stream, exchange, cluster.options);
          }
        });
    if (sums != null) {
      meet(cluster, job, index, port, sums);
    }
  }

  private void meet(SimulatedCluster cluster, String job, int index, SimulatedPort port, GradientSums sums) {
    CollectiveRank rank = new CollectiveRank(loop, instance.host(), cluster.network.of(loop),
        CollectiveOptions.defaults().withStream(cluster.options), new Waits(cluster.time, 10));
    List<String> endpoints = IntStream.range(0, kind.summing()).mapToObj(i -> "heter-" + i + ":" + PORT).toList();
    rank.listens(endpoints.get(index));
    port.streams(StreamPaths.COLLECTIVE, rank::accept);
    loop.after(1, () -> rank.form(new Membership(job + "/heter", 1, index, endpoints))
        .onSuccess(all -> sums.meet(PART_SIZE, values -> all.allReduce(Tensor.of(values), ReduceOp.SUM)))
        .onFailure(sums::fail));
  }

  private boolean isAlive(TensorStream stream) {
    if (dead) {
      stream.fail(new PeerLost("nobody listens here"));
    }
    return !dead;
  }

  /** The gradient of a trainer's step on these values. */
  static float[] gradient(int rank, long step, float[] values) {
    float[] gradient = new float[values.length];
    for (int i = 0; i < gradient.length; i++) {
      gradient[i] = 0.3f * values[i] + (rank + 1) * 0.01f * ((step * 7 + i) % 11 - 5);
    }
    return gradient;
  }

  /** Ends as a killed process does: all of its streams break. */
  void die() {
    dead = true;
    loop.execute(() -> {
      PeerLost why = new PeerLost("its process has ended");
      sessions.forEach(session -> session.giveUp(why));
      streams.forEach(stream -> stream.fail(why));
      exchange.close();
    });
  }

  @Override
  public Future<CutOpened> open(Origin from, CutOpen open) {
    return Future.succeededFuture(CutOpened.getDefaultInstance());
  }

  @Override
  public Future<ComputedBatch> compute(Origin from, BatchToCompute batch) {
    Promise<ComputedBatch> computed = Promise.promise();
    queue.add(new PartWork(List.of(batch), results -> computed.complete(results.get(0)), computed::fail, List::of));
    loop.after(COMPUTE_MILLIS, () -> {
      if (!dead) {
        host.next().thenAccept(work -> work.ifPresent(this::compute));
      }
    });
    return computed.future();
  }

  private void compute(PartWork work) {
    BatchToCompute batch = work.batches().get(0);
    List<TensorData> gradients = batch.tensors().stream().filter(data -> data.tensor().getRole() == Role.DENSE_VALUES)
        .map(data -> {
      float[] values = new float[data.bytes().remaining() / Float.BYTES];
      data.bytes().duplicate().order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(values);
      ByteBuffer bytes = ByteBuffer.allocateDirect(data.bytes().remaining()).order(ByteOrder.LITTLE_ENDIAN);
      bytes.asFloatBuffer().put(kind.formula().gradient(batch.id().trainer().rank(), batch.head().getStep(), values));
      return new TensorData(data.tensor().toBuilder().setRole(Role.DENSE_GRADIENT).build(), bytes);
    }).toList();
    work.done().accept(List.of(new ComputedBatch(batch.id(), CutResult.newBuilder().setNumber(batch.id().number())
        .build(), gradients)));
  }

  @Override
  public void closed(Origin from, boolean clean) {
    if (!clean) {
      onLost.accept(from.trainer().rank());
    }
  }

  @Override
  public CompletionStage<Void> wanted() {
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public void ready(CutSignature own, boolean gatherable) {}

  @Override
  public CompletionStage<Optional<PartWork>> next() {
    return CompletableFuture.completedFuture(Optional.ofNullable(queue.poll()));
  }
}
