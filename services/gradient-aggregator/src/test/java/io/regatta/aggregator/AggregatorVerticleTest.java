package io.regatta.aggregator;

import static io.regatta.aggregator.RunningCluster.failure;
import static io.regatta.aggregator.RunningCluster.get;
import static io.regatta.node.testing.Conditions.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.regatta.aggregator.RunningCluster.Trainer;
import io.regatta.core.client.LocalShardLink;
import io.regatta.core.client.ParameterClient;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.error.RegattaException.StaleGeneration;
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
import io.regatta.node.directory.Directory;
import io.regatta.node.testing.BlockedLoopGuard;
import io.regatta.node.testing.LeftoverThreads;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** Real services, real streams; the oracle is the same job in one process, without an aggregator. */
@ExtendWith(BlockedLoopGuard.class)
class AggregatorVerticleTest {
  private static final int NUMEL = 3000;
  private static final int STEPS = 3;
  private static final long[] IDS = LongStream.range(-50, 50).map(i -> i * 7919).toArray();

  private static JobSpec job(Mode mode, int trainers, int shards) {
    return new JobSpec("job", mode, trainers, 2, NanPolicy.FAIL, shards, 256, new ModelSpec(7,
        List.of(new DenseVariable("w", List.of(NUMEL))), OptimizerSpec.of("adam", 0.01),
        List.of(new SparseTableSpec("emb", 3, InitializerSpec.uniform(-1, 1), OptimizerSpec.of("adagrad", 0.1)))));
  }

  private static float[] wave(int n, double scale) {
    float[] v = new float[n];
    for (int i = 0; i < n; i++) {
      v[i] = (float) (scale * Math.sin(i * 0.37 + scale));
    }
    return v;
  }

  private static CompletableFuture<ParameterClient.Pushed> push(ParameterClient client, int rank, long step) {
    return client.push(step, 8 + 3 * rank, null, DenseMemory.of(wave(NUMEL, 1 + rank + 0.1 * step)),
        List.of(new SparseRows("emb", IDS, wave(3 * IDS.length, 0.5 + rank + 0.01 * step))));
  }

  /** The digest after some steps of these ranks in one process. */
  private static long reference(int trainers, int steps, int... lastSteps) {
    JobSpec job = job(Mode.SYNC, trainers, 1);
    ParameterShard shard = new ParameterShard(0, ShardLimits.defaults(), TestClock.at(0));
    List<ParameterClient> clients = new ArrayList<>();
    for (int rank = 0; rank < trainers; rank++) {
      clients.add(new ParameterClient(job, new TrainerId(rank, 1), List.of(new LocalShardLink(shard)), Runnable::run));
      clients.get(rank).register().join();
    }
    clients.get(0).initialize(wave(NUMEL, 1)).join();
    for (int step = 0; step < steps; step++) {
      for (int rank = 0; rank < trainers; rank++) {
        if (step < lastSteps[rank]) {
          push(clients.get(rank), rank, step);
        } else if (step == lastSteps[rank]) {
          clients.get(rank).leave(true).join();
        }
      }
    }
    return shard.digest("job");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void syncTrainingBehindAnAggregatorGivesTheSameBitsInAnyOrderOfArrival(int trainers) {
    LeftoverThreads threads = LeftoverThreads.snapshot();
    try (RunningCluster cluster = new RunningCluster(job(Mode.SYNC, trainers, RunningCluster.SHARDS), 1)) {
      List<Trainer> members = cluster.trainers(wave(NUMEL, 1), new int[trainers]);
      List<Trainer> order = new ArrayList<>(members);
      for (long step = 0; step < STEPS; step++) {
        Collections.shuffle(order, new Random(step));
        List<CompletableFuture<?>> all = new ArrayList<>();
        for (Trainer trainer : order) {
          all.add(trainer.client.pull(step, true, List.of(new SparseIds("emb", IDS)), false));
          all.add(push(trainer.client, trainer.id.rank(), step));
        }
        all.forEach(RunningCluster::get);
      }
      int[] never = new int[trainers];
      Arrays.fill(never, STEPS);
      assertThat(get(members.get(0).client.digest())).isEqualTo(reference(trainers, STEPS, never));
      members.forEach(Trainer::leave);
      assertThat(get(cluster.node.waits().list())).isEmpty();
    }
    threads.assertNone();
  }

  @Test
  void twoAggregatorsOfOneTrainerEachAndOneWithoutGiveTheSameBits() {
    try (RunningCluster cluster = new RunningCluster(job(Mode.SYNC, 3, RunningCluster.SHARDS), 2)) {
      List<Trainer> members = cluster.trainers(wave(NUMEL, 1), 0, 1, -1);
      for (long step = 0; step < STEPS; step++) {
        List<CompletableFuture<?>> acks = new ArrayList<>();
        for (Trainer trainer : members) {
          acks.add(push(trainer.client, trainer.id.rank(), step));
        }
        acks.forEach(RunningCluster::get);
      }
      assertThat(get(members.get(2).client.digest())).isEqualTo(reference(3, STEPS, STEPS, STEPS, STEPS));
    }
  }

  @Test
  void whoLeavesIsNotWaitedFor() {
    try (RunningCluster cluster = new RunningCluster(job(Mode.SYNC, 2, RunningCluster.SHARDS), 1)) {
      List<Trainer> members = cluster.trainers(wave(NUMEL, 1), 0, 0);
      CompletableFuture<?> first = push(members.get(0).client, 0, 0);
      push(members.get(1).client, 1, 0);
      get(first);
      CompletableFuture<?> waiting = push(members.get(0).client, 0, 1);
      members.get(1).leave();
      get(waiting);
      get(push(members.get(0).client, 0, 2));
      assertThat(get(members.get(0).client.digest())).isEqualTo(reference(2, 3, 3, 1));
    }
  }

  @Test
  void whoIsLostReleasesTheRoundThatWaitedForIt() {
    try (RunningCluster cluster = new RunningCluster(job(Mode.SYNC, 3, RunningCluster.SHARDS), 1, 5_000)) {
      List<Trainer> members = cluster.trainers(wave(NUMEL, 1), 0, 0, 0);
      members.get(2).die();
      CompletableFuture<?> zero = push(members.get(0).client, 0, 0);
      CompletableFuture<?> one = push(members.get(1).client, 1, 0);
      get(zero);
      get(one);
      assertThat(failure(push(members.get(2).client, 2, 0))).hasMessageContaining("trainer 2");
      CompletableFuture<?> next = push(members.get(0).client, 0, 1);
      get(push(members.get(1).client, 1, 1));
      get(next);
    }
  }

  @Test
  void whoSitsOutIsNotWaitedForUntilItComesBack() {
    try (RunningCluster cluster = new RunningCluster(job(Mode.SYNC, 2, RunningCluster.SHARDS), 1)) {
      List<Trainer> members = cluster.trainers(wave(NUMEL, 1), 0, 0);
      get(members.get(1).client.sitOut());
      get(push(members.get(0).client, 0, 0));
      get(push(members.get(0).client, 0, 1));
      get(members.get(0).client.sitOut());
      members.forEach(member -> get(member.client.register()));
      CompletableFuture<?> zero = push(members.get(0).client, 0, 2);
      get(push(members.get(1).client, 1, 2));
      get(zero);
    }
  }

  @Test
  void inHalfAsyncModeATrainerReadsWhatItWrote() {
    try (RunningCluster cluster = new RunningCluster(job(Mode.HALF_ASYNC, 2, RunningCluster.SHARDS), 1)) {
      List<Trainer> members = cluster.trainers(wave(NUMEL, 1), 0, 0);
      CompletableFuture<?> ack = push(members.get(0).client, 0, 0);
      CompletableFuture<ParameterClient.Values> pulled = members.get(0).client.pull(1, true, List.of(), false);
      get(members.get(1).client.pull(0, true, List.of(), false));
      assertThat(ack).isNotDone();
      assertThat(pulled).isNotDone();
      get(push(members.get(1).client, 1, 0));
      get(ack);
      assertThat(get(pulled).versions()).containsOnly(1);
    }
  }

  @Test
  void aPushThatTheShardRefusesFailsForAllContributorsWithItsWords() {
    try (RunningCluster cluster = new RunningCluster(job(Mode.SYNC, 2, RunningCluster.SHARDS), 1)) {
      List<Trainer> members = cluster.trainers(wave(NUMEL, 1), 0, 0);
      CompletableFuture<?> zero = push(members.get(0).client, 0, 5);
      CompletableFuture<?> one = push(members.get(1).client, 1, 5);
      assertThat(failure(zero)).isInstanceOf(InvalidInput.class).hasMessageContaining("has skipped step 0");
      assertThat(failure(one)).isInstanceOf(InvalidInput.class).hasMessageContaining("has skipped step 0");
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void whenAShardKnowsFirstThatATrainerIsGoneOnlyThatOneIsRefused(int gone) {
    try (RunningCluster cluster = new RunningCluster(job(Mode.SYNC, 3, RunningCluster.SHARDS), 1)) {
      List<Trainer> members = cluster.trainers(wave(NUMEL, 1), 0, 0, 0);
      members.get(gone).leaveShardsDirectly();
      List<CompletableFuture<ParameterClient.Pushed>> pushes =
          members.stream().map(member -> push(member.client, member.id.rank(), 0)).toList();
      assertThat(failure(pushes.get(gone))).isInstanceOf(StaleGeneration.class).hasMessageContaining("has left");
      for (int rank = 0; rank < 3; rank++) {
        if (rank != gone) {
          get(pushes.get(rank));
        }
      }
    }
  }

  @Test
  void aModeThatNoAggregatorServesIsRefusedAtRegistration() {
    try (RunningCluster cluster = new RunningCluster(job(Mode.ASYNC, 1, RunningCluster.SHARDS), 1)) {
      try {
        cluster.trainers(wave(NUMEL, 1), 0);
      } catch (AssertionError refused) {
        assertThat(refused.getCause()).isInstanceOf(InvalidInput.class).hasMessageContaining("mode ASYNC")
            .hasMessageContaining("directly");
        return;
      }
      throw new AssertionError("registered");
    }
  }

  /** Trainer 2 pushes past the aggregator, so the merged push of the others lies at the shards. */
  @Test
  void aShardThatIsLostIsSaidInOneLineNamingWhosePushesFail() throws Exception {
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.list = new CopyOnWriteArrayList<>();
    log.start();
    Logger regatta = (Logger) LoggerFactory.getLogger("io.regatta");
    regatta.addAppender(log);
    try (RunningCluster cluster = new RunningCluster(job(Mode.SYNC, 3, RunningCluster.SHARDS), 1)) {
      List<Trainer> members = cluster.trainers(wave(NUMEL, 1), 0, 0, -1);
      CompletableFuture<?> zero = push(members.get(0).client, 0, 0);
      CompletableFuture<?> one = push(members.get(1).client, 1, 0);
      awaitTrue(() -> get(cluster.node.waits().list()).stream()
          .filter(wait -> wait.where().startsWith("shard")).count() == 2 * RunningCluster.SHARDS);
      assertThat(zero).isNotDone();
      get(cluster.vertx.undeploy(cluster.server));
      assertThat(failure(zero)).isInstanceOf(PeerLost.class).hasMessageContaining("127.0.0.1");
      assertThat(failure(one)).isInstanceOf(PeerLost.class);
      awaitTrue(() -> log.list.stream().filter(line -> line.getFormattedMessage().contains("the pushes of step 0 fail"))
          .count() >= RunningCluster.SHARDS);
    } finally {
      regatta.detachAppender(log);
    }
    List<ILoggingEvent> seen = List.copyOf(log.list);
    assertThat(seen).filteredOn(line -> line.getLevel() == Level.ERROR).isEmpty();
    for (int shard = 0; shard < RunningCluster.SHARDS; shard++) {
      String lost = "shard " + shard + " at 127.0.0.1:\\d+ is lost: .*; of job job the pushes of step 0 fail, those of "
          + "trainers 0, 1";
      assertThat(seen).filteredOn(line -> line.getLevel() == Level.WARN && line.getFormattedMessage().matches(lost))
          .as(seen.toString()).hasSize(1);
    }
  }

  @Test
  void whenTheAggregatorStopsWhoWaitsThereIsTold() throws Exception {
    try (RunningCluster cluster = new RunningCluster(job(Mode.SYNC, 2, RunningCluster.SHARDS), 1)) {
      assertThat(get(cluster.directory.list(Directory.GRADIENT_AGGREGATOR))).singleElement()
          .satisfies(instance -> assertThat(instance.attributes()).containsEntry("host", "127.0.0.1"));
      List<Trainer> members = cluster.trainers(wave(NUMEL, 1), 0, 0);
      CompletableFuture<?> zero = push(members.get(0).client, 0, 0);
      awaitTrue(() -> get(cluster.node.waits().list()).size() == RunningCluster.SHARDS);
      assertThat(zero).isNotDone();
      assertThat(get(cluster.node.waits().list())).hasSize(RunningCluster.SHARDS).allSatisfy(wait ->
          assertThat(wait.sentence(0)).contains("trainer 0 waits at aggregator of shard").contains("for trainer 1"));
      get(cluster.vertx.undeploy(cluster.deployments.get(0)));
      assertThat(failure(zero)).isInstanceOf(PeerLost.class).hasMessageContaining("shutting down");
      assertThat(get(cluster.directory.list(Directory.GRADIENT_AGGREGATOR))).isEmpty();
    }
  }
}
