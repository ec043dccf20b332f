package io.regatta.fleet.simulation;

import io.regatta.core.client.ParameterClient.Values;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.loop.Loop;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.shard.ParameterShard;
import io.regatta.node.directory.Directory;
import io.regatta.node.directory.Registration;
import io.regatta.node.group.GroupWatch;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * A job with heter workers in virtual time: a rendezvous, servers, heter workers and trainers, each on a loop that
 * can be
 * killed or frozen. The gradient of each trainer's step is 1 in an element of its own, so the values say how often each
 * gradient was applied.
 */
final class SimulatedHeterJob {
  static final String JOB = "faults";
  static final int TRAINERS = 3;
  static final int STEPS = 8;
  static final int GEO_STEPS = 2;
  private static final int SHARDS = 2;
  private static final int WORKERS = 2;
  private static final int STALENESS = 2;
  private static final long RETRY_MILLIS = 1000;

  /** Way of the dense parameters: {@code heter.dense}. */
  enum Dense { TRAINERS, SERVERS, COLLECTIVE }

  final Mode mode;
  final Dense dense;
  final SimulatedCluster cluster;
  final JobSpec spec;
  final List<SimulatedDenseWorker> workers;
  final List<Directory.Instance> directory;
  final List<SimulatedHeterTrainer> trainers;

  SimulatedHeterJob(long seed, Mode mode, Dense dense) {
    this.mode = mode;
    this.dense = dense;
    cluster = new SimulatedCluster(seed, mode.needsServers() ? SHARDS : 0);
    spec = new JobSpec(JOB, mode, TRAINERS, mode.hasStalenessBound() ? STALENESS : 0, NanPolicy.FAIL, SHARDS, 4,
        new ModelSpec(7,
        List.of(new DenseVariable("a", List.of(SimulatedDenseWorker.PART_SIZE))), OptimizerSpec.sgd(1), List.of()));
    workers = IntStream.range(0, WORKERS).mapToObj(i -> new SimulatedDenseWorker(cluster, i, JOB,
        new SimulatedDenseWorker.Kind(
        isDenseElsewhere(), dense == Dense.COLLECTIVE ? WORKERS : 0, TRAINERS, (rank, step, values) -> ofStep(rank,
            step)))).toList();
    directory = new ArrayList<>(workers.stream().map(worker -> worker.instance).toList());
    trainers = IntStream.range(0, TRAINERS).mapToObj(rank -> new SimulatedHeterTrainer(this, rank)).toList();
  }

  boolean isDenseElsewhere() {
    return dense != Dense.TRAINERS;
  }

  private static float[] ofStep(int rank, long step) {
    float[] gradient = new float[SimulatedDenseWorker.PART_SIZE];
    gradient[place(rank, step)] = 1;
    return gradient;
  }

  private static int place(int rank, long step) {
    return (int) (rank * STEPS + step);
  }

  /** Trains until a trainer has made some steps; servers follow the rendezvous from the first one on. */
  void trainUntil(int rank, long steps) {
    cluster.runUntil(() -> trainers.stream().allMatch(trainer -> trainer.made > 0 || trainer.over.future()
        .isComplete()));
    IntStream.range(0, cluster.shards.size()).forEach(this::follow);
    cluster.runUntil(() -> trainers.get(rank).made >= steps);
  }

  /** Trains until these have ended their runs. */
  void trainToTheEnd(List<Integer> ranks) {
    cluster.runUntil(() -> ranks.stream().allMatch(rank -> trainers.get(rank).over.future().isComplete()));
  }

  /** Returns how much of each gradient of a rank was applied, by step; {@code reader} lives. */
  List<Double> applied(int rank, int reader) {
    float[] values = trainers.get(reader).values;
    if (mode.needsServers()) {
      CompletableFuture<Values> read = trainers.get(reader).client.read(true, List.of());
      cluster.runUntil(read::isDone);
      values = read.join().dense();
    }
    List<Double> applied = new ArrayList<>();
    for (long step = 0; step < STEPS; step++) {
      applied.add(0.0 - values[place(rank, step)]); // never -0
    }
    return applied;
  }

  /** Lets a server follow the group as in production. */
  private void follow(int index) {
    ParameterShard shard = cluster.shards.get(index);
    Loop loop = cluster.shardLoops.get(index);
    loop.execute(() -> new GroupWatch(loop, new RendezvousOnly(cluster.rendezvous), cluster.network.of(loop), JOB,
        "shard " + index,
        RETRY_MILLIS, new GroupWatch.Follower() {
          @Override
          public void active(TrainerId holder) {}

          @Override
          public void gone(TrainerId life, boolean left, boolean succeeded) {
            shard.lost(JOB, life);
          }

          @Override
          public void viewed() {}

          @Override
          public void ended(long lastIncarnation) {}

          @Override
          public boolean connected() {
            return true;
          }
        }).start());
  }

  /** A directory that lists one rendezvous, and nothing else. */
  private record RendezvousOnly(Directory.Instance rendezvous) implements Directory {
    @Override
    public Future<Registration> register(Instance instance) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Future<Registration> registerSole(Instance instance, Function<Instance, Future<Boolean>> answers,
        String remedy) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Future<List<Instance>> list(String service) {
      return Future.succeededFuture(service.equals(RENDEZVOUS) ? List.of(rendezvous) : List.of());
    }

    @Override
    public Future<List<Instance>> await(String service, int count, Duration timeout, String who) {
      return list(service);
    }

    @Override
    public Future<List<Instance>> awaitAny(String service, Duration timeout, String who) {
      return list(service);
    }

    @Override
    public Future<Void> close() {
      return Future.succeededFuture();
    }
  }
}
