package io.regatta.fleet.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.offset;

import io.regatta.core.client.GeoState;
import io.regatta.core.client.LocalShardLink;
import io.regatta.core.client.ParameterClient;
import io.regatta.core.client.ParameterClient.Values;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.shard.ParameterShard;
import io.regatta.core.testing.TestClock;
import io.regatta.training.config.JobConfig;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * Three trainers on two shards in virtual time, for many seeds. In any order of arrivals, sync training gives the bits
 * of a single process, and the other modes apply each push once.
 */
class SimulatedTrainingTest {
  private static final int TRAINERS = 3;
  private static final int SHARDS = 2;
  private static final int STEPS = 12;
  private static final int SEEDS = 200;
  private static final int DENSE = 24;
  private static final int DIM = 3;
  private static final int IDS = 10;
  private static final int GEO_STEPS = 3;
  private static final String TABLE = "deep";
  private static final float RATE = 0.5f;
  private static final float PRECISION = 1e-4f;

  private static JobSpec job(Mode mode, OptimizerSpec optimizer) {
    return new JobSpec("simulated", mode, TRAINERS, mode.hasStalenessBound() ? 2 : 0, NanPolicy.FAIL, SHARDS, 4, new ModelSpec(7,
        List.of(new DenseVariable("weight", List.of(5, 3)), new DenseVariable("bias", List.of(9))), optimizer,
        List.of(new SparseTableSpec(TABLE, DIM, InitializerSpec.zeros(), optimizer))));
  }

  private static float[] initial() {
    float[] values = new float[DENSE];
    for (int i = 0; i < DENSE; i++) {
      values[i] = i - 7;
    }
    return values;
  }

  /** Ids of the rows that a trainer uses in a step; some are used by several. */
  private static long[] ids(int rank, long step) {
    return new long[] {step % IDS, IDS + (step * 7 + rank) % IDS, 2 * IDS + rank};
  }

  /** Whole numbers, so that sums are exact in any order. */
  private static float[] whole(int rank, long step, int length) {
    Random random = new Random(31 * step + rank);
    float[] values = new float[length];
    for (int i = 0; i < length; i++) {
      values[i] = random.nextInt(17) - 8;
    }
    return values;
  }

  /** A gradient that depends on the values, so that a trainer that sees others trains otherwise. */
  private static float[] dependent(int rank, long step, float[] of) {
    Random random = new Random(101 * step + rank);
    float[] gradient = new float[of.length];
    for (int i = 0; i < of.length; i++) {
      gradient[i] = 0.1f * of[i] + (float) random.nextGaussian();
    }
    return gradient;
  }

  private static List<SparseIds> wish(int rank, long step) {
    return List.of(new SparseIds(TABLE, ids(rank, step)));
  }

  private static CompletableFuture<ParameterClient.Pushed> pushDependent(ParameterClient client, int rank, long step, Values at) {
    SparseRows rows = at.sparse().get(0);
    return client.push(step, 1 + rank, at.versions(), DenseMemory.of(dependent(rank, step, at.dense())),
        List.of(new SparseRows(TABLE, rows.ids(), dependent(rank, step + 1000, rows.values()))));
  }

  /** Digests of all shards after the steps, trained in one process without a network. */
  private static List<Long> oracle(JobSpec job) {
    List<ParameterShard> shards = new ArrayList<>();
    for (int s = 0; s < SHARDS; s++) {
      shards.add(new ParameterShard(s, ShardLimits.defaults(), TestClock.at(1)));
    }
    List<ParameterClient> clients = new ArrayList<>();
    for (int rank = 0; rank < TRAINERS; rank++) {
      clients.add(new ParameterClient(job, new TrainerId(rank, 1), shards.stream().map(LocalShardLink::new).toList(), Runnable::run));
    }
    clients.forEach(client -> client.register().join());
    clients.get(0).initialize(initial()).join();
    for (long step = 0; step < STEPS; step++) {
      List<Values> values = new ArrayList<>();
      for (int rank = 0; rank < TRAINERS; rank++) {
        values.add(clients.get(rank).pull(step, true, wish(rank, step), false).join());
      }
      List<CompletableFuture<?>> pushes = new ArrayList<>();
      for (int rank = 0; rank < TRAINERS; rank++) {
        pushes.add(pushDependent(clients.get(rank), rank, step, values.get(rank)));
      }
      pushes.forEach(CompletableFuture::join);
    }
    return shards.stream().map(shard -> shard.digest(job.job())).toList();
  }

  /** One trainer's steps, each begun when the one before has ended. */
  private interface Step {
    Future<?> make(SimulatedCluster.Rank rank, int number, long step);
  }

  /** Trains with all trainers up to a barrier behind their last steps. */
  private static List<SimulatedCluster.Rank> train(SimulatedCluster cluster, JobSpec job, Step step) {
    List<SimulatedCluster.Rank> ranks = new ArrayList<>();
    List<Future<Void>> ends = new ArrayList<>();
    for (int number = 0; number < TRAINERS; number++) {
      ranks.add(cluster.new Rank(job.job(), number));
    }
    for (int number = 0; number < TRAINERS; number++) {
      SimulatedCluster.Rank rank = ranks.get(number);
      int of = number;
      ends.add(rank.enter(job)
          .compose(v -> of == 0 ? Future.fromCompletionStage(rank.client().initialize(initial())) : Future.succeededFuture())
          .compose(v -> rank.barrier("start"))
          .compose(v -> steps(rank, of, 0, step))
          .compose(v -> rank.barrier("end")));
    }
    Future<?> all = Future.all(ends);
    cluster.runUntil(all::isComplete);
    if (all.failed()) {
      throw new AssertionError("a trainer has failed", all.cause());
    }
    return ranks;
  }

  private static Future<Void> steps(SimulatedCluster.Rank rank, int number, long step, Step each) {
    return step == STEPS ? Future.succeededFuture() : each.make(rank, number, step).compose(v -> {
      rank.lastStep = step;
      return steps(rank, number, step + 1, each);
    });
  }

  /** All leave; nothing is left at the shards. */
  private static void leave(SimulatedCluster cluster, List<SimulatedCluster.Rank> ranks) {
    Future<?> left = Future.all(ranks.stream().map(rank -> Future.fromCompletionStage(rank.client().leave(true))
        .compose(v -> rank.membership.leave(true, true))).toList());
    cluster.runUntil(left::isComplete);
    assertThat(left.succeeded()).as("%s", left.cause()).isTrue();
    cluster.shards.forEach(shard -> assertThat(shard.jobs()).isEmpty());
  }

  @Test
  void sync_training_has_the_bits_of_one_process_whatever_the_network_does() {
    JobSpec job = job(Mode.SYNC, OptimizerSpec.of("adam", 0.01));
    List<Long> expected = oracle(job);
    for (long seed = 0; seed < SEEDS; seed++) {
      SimulatedCluster cluster = new SimulatedCluster(seed, SHARDS);
      List<SimulatedCluster.Rank> ranks = train(cluster, job, (rank, number, step) ->
          Future.fromCompletionStage(rank.client().pull(step, true, wish(number, step), false)
              .thenCompose(at -> pushDependent(rank.client(), number, step, at))));
      assertThat(cluster.shards.stream().map(shard -> shard.digest(job.job())).toList()).as("seed %d", seed).isEqualTo(expected);
      leave(cluster, ranks);
    }
  }

  /** Dense values once every gradient has been applied, in whatever order. */
  private static float[] trained() {
    float[] expected = initial();
    for (int rank = 0; rank < TRAINERS; rank++) {
      for (long step = 0; step < STEPS; step++) {
        float[] gradient = whole(rank, step, DENSE);
        for (int i = 0; i < DENSE; i++) {
          expected[i] -= RATE * gradient[i];
        }
      }
    }
    return expected;
  }

  @Test
  void modes_without_rounds_and_differences_apply_each_push_once() {
    for (Mode mode : Mode.ofServers().stream().filter(of -> !of.hasRounds() && !of.pushesDeltas()).toList()) {
      int stepsPerPull = JobConfig.of(new JsonObject().put("job", "simulated")).strategies().of(mode).stepsPerPull();
      JobSpec job = job(mode, OptimizerSpec.sgd(RATE));
      for (long seed = 0; seed < SEEDS / 2; seed++) {
        SimulatedCluster cluster = new SimulatedCluster(seed, SHARDS);
        long[][] clocks = new long[TRAINERS][SHARDS];
        List<SimulatedCluster.Rank> ranks = train(cluster, job, (rank, number, step) ->
            Future.fromCompletionStage(seen(rank.client(), number, step, step % stepsPerPull == 0, clocks)
                .thenCompose(versions -> rank.client().push(step, 1, versions, DenseMemory.of(whole(number, step, DENSE)),
                    List.of(new SparseRows(TABLE, ids(number, step),
                        whole(number, step, DIM * ids(number, step).length)))))));
        Future<Values> read = Future.fromCompletionStage(ranks.get(0).client().read(true, List.of()));
        cluster.runUntil(read::isComplete);
        assertThat(read.result().dense()).as("%s, seed %d", mode, seed).isEqualTo(trained());
        cluster.shards.forEach(shard -> assertThat(shard.status(job.job()).pushes()).isEqualTo(TRAINERS * STEPS));
        leave(cluster, ranks);
      }
    }
  }

  /** Returns the versions that a step computes on: of a pull now, which has none that are older, or of the last one. */
  private static CompletableFuture<long[]> seen(ParameterClient client, int number, long step, boolean pulls,
      long[][] clocks) {
    if (!pulls) {
      return CompletableFuture.completedFuture(clocks[number]);
    }
    return client.pull(step, true, wish(number, step), false).thenApply(at -> {
      for (int s = 0; s < SHARDS; s++) {
        assertThat(at.versions()[s]).as("version of shard %d", s).isGreaterThanOrEqualTo(clocks[number][s]);
      }
      clocks[number] = at.versions();
      return at.versions();
    });
  }

  /** Dense values after geo training: each exchange gives the servers a share of what the trainer is away from them. */
  private static float[] shared() {
    double[] expected = new double[DENSE];
    for (int i = 0; i < DENSE; i++) {
      expected[i] = initial()[i];
    }
    for (int rank = 0; rank < TRAINERS; rank++) {
      double[] away = new double[DENSE];
      for (long step = 0; step < STEPS; step++) {
        float[] gradient = whole(rank, step, DENSE);
        for (int i = 0; i < DENSE; i++) {
          away[i] -= RATE * gradient[i];
          double share = (step + 1) % GEO_STEPS == 0 ? away[i] / TRAINERS : 0;
          expected[i] += share;
          away[i] -= share;
        }
      }
    }
    float[] rounded = new float[DENSE];
    for (int i = 0; i < DENSE; i++) {
      rounded[i] = (float) expected[i];
    }
    return rounded;
  }

  @Test
  void geo_training_keeps_every_trainers_share() {
    JobSpec job = job(Mode.GEO, OptimizerSpec.sgd(RATE));
    float[] expected = shared();
    for (long seed = 0; seed < SEEDS / 2; seed++) {
      SimulatedCluster cluster = new SimulatedCluster(seed, SHARDS);
      GeoState[] states = new GeoState[TRAINERS];
      for (int rank = 0; rank < TRAINERS; rank++) {
        states[rank] = new GeoState(job, rank, GEO_STEPS);
      }
      List<SimulatedCluster.Rank> ranks = train(cluster, job, (rank, number, step) -> {
        GeoState state = states[number];
        Future<Values> values = state.started() ? Future.succeededFuture()
            : Future.fromCompletionStage(rank.client().pull(0, true, List.of(), false)).onSuccess(state::renew);
        return values.compose(v -> {
          state.step(whole(number, step, DENSE), List.of());
          return state.exchangeDue() ? exchange(rank.client(), state, step) : Future.succeededFuture();
        });
      });
      Future<Values> read = Future.fromCompletionStage(ranks.get(0).client().read(true, List.of()));
      cluster.runUntil(read::isComplete);
      assertThat(read.result().dense()).as("seed %d", seed).containsExactly(expected, offset(PRECISION));
      cluster.shards.forEach(shard -> assertThat(shard.status(job.job()).pushes()).isEqualTo(TRAINERS * STEPS / GEO_STEPS));
      leave(cluster, ranks);
    }
  }

  private static Future<?> exchange(ParameterClient client, GeoState state, long step) {
    GeoState.Delta delta = state.takeDelta();
    CompletableFuture<ParameterClient.Pushed> pushed = client.push(step / GEO_STEPS, 1, delta.versions(),
        DenseMemory.of(delta.dense()), delta.sparse());
    CompletableFuture<Values> pulled = client.pull(step / GEO_STEPS + 1, true, List.of(), true);
    return Future.fromCompletionStage(pushed.thenCombine(pulled, (ack, values) -> values)).onSuccess(state::merge);
  }

  @Test
  void one_seed_gives_one_history() {
    JobSpec job = job(Mode.ASYNC, OptimizerSpec.of("adam", 0.01));
    assertThat(asyncDigests(job, 5)).isEqualTo(asyncDigests(job, 5));
    assertThat(LongStream.range(0, 10).mapToObj(seed -> asyncDigests(job, seed)).distinct().count())
        .as("histories of ten seeds").isGreaterThan(5);
  }

  private static List<Long> asyncDigests(JobSpec job, long seed) {
    SimulatedCluster cluster = new SimulatedCluster(seed, SHARDS);
    train(cluster, job, (rank, number, step) -> Future.fromCompletionStage(
        rank.client().pull(step, true, wish(number, step), false).thenCompose(at -> pushDependent(rank.client(), number, step, at))));
    return cluster.shards.stream().map(shard -> shard.digest(job.job())).toList();
  }
}
