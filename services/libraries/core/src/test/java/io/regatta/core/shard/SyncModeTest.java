package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.regatta.core.client.ParameterClient;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.optim.Momentum;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.shard.internal.push.Trainers;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class SyncModeTest {

  private static final int STEPS = 6;

  @Property(tries = 60)
  void anyInterleavingOnAnyNumberOfShardsGivesTheBitsOfOneProcess(@ForAll("optimizers") OptimizerSpec optimizer,
      @ForAll @IntRange(min = 1, max = 4) int trainers, @ForAll long seed) {
    NaiveServer naive = new NaiveServer(LocalJob.model(optimizer));
    for (long step = 0; step < STEPS; step++) {
      List<LocalJob.Gradient> round = new ArrayList<>();
      for (int rank = 0; rank < trainers; rank++) {
        round.add(LocalJob.gradient(seed, rank, step));
      }
      naive.round(step, round);
    }
    for (int shards : new int[] {1, 2, 5}) {
      LocalJob job = new LocalJob(Mode.SYNC, trainers, shards, optimizer);
      runInterleaved(job, new Random(seed + shards), seed);
      assertThat(job.digest()).as("%d shards", shards).isEqualTo(naive.digest());
      ParameterClient.Values values = job.clients.get(0).pull(STEPS, true, List.of(), false).join();
      assertThat(values.dense()).containsExactly(naive.dense);
      assertThat(values.versions()).containsOnly(STEPS);
    }
  }

  @Provide
  Arbitrary<OptimizerSpec> optimizers() {
    return Arbitraries.of(OptimizerSpec.sgd(0.1), OptimizerSpec.of(new Momentum(0.9f, true), 0.1), OptimizerSpec.of("adagrad", 0.1),
        OptimizerSpec.of("adam", 0.01));
  }

  /** Trainers advance in random order; each keeps up to three steps in flight, without waiting for acknowledgements. */
  private static void runInterleaved(LocalJob job, Random random, long seed) {
    int n = job.clients.size();
    long[] next = new long[n];
    List<CompletableFuture<?>> acks = new ArrayList<>();
    for (int left = n * STEPS; left > 0; ) {
      int rank = random.nextInt(n);
      if (next[rank] < STEPS && next[rank] < slowest(next) + 3) {
        LocalJob.Gradient g = LocalJob.gradient(seed, rank, next[rank]);
        acks.add(job.clients.get(rank).push(next[rank]++, g.weight(), null, DenseMemory.of(g.dense()), g.sparse()));
        left--;
      }
    }
    assertThat(acks).allMatch(CompletableFuture::isDone).noneMatch(CompletableFuture::isCompletedExceptionally);
  }

  private static long slowest(long[] next) {
    long min = Long.MAX_VALUE;
    for (long n : next) {
      min = Math.min(min, n);
    }
    return min;
  }

  @Test
  void aPullWaitsForTheRoundsBeforeItsStep() {
    LocalJob job = new LocalJob(Mode.SYNC, 2, 2, OptimizerSpec.sgd(1));
    var ack = push(job, 0, 0);
    var pull = job.clients.get(0).pull(1, true, List.of(), false);
    assertThat(ack).isNotDone();
    assertThat(pull).isNotDone();
    push(job, 1, 0).join();
    assertThat(ack).isCompletedWithValue(new ParameterClient.Pushed(0, false));
    assertThat(pull.join().versions()).containsOnly(1);
  }

  /** As it is behind an aggregator, which holds the push until the round of its host is complete. */
  @Test
  void aPullThatComesBeforeItsOwnPushNamesTheOthersAndNotTheAsker() {
    LocalJob job = new LocalJob(Mode.SYNC, 2, 1, OptimizerSpec.sgd(1));
    var pull = job.clients.get(0).pull(1, true, List.of(), false);
    assertThat(job.shards.get(0).waits()).extracting(w -> w.sentence(w.sinceMillis())).containsExactly(
        "trainer 0 waits at shard 0 of job job for trainer 1 (nothing seen yet), its own push (the gradient aggregator "
            + "may hold it, and say for whom), pull of step 1, since 0.0 s");
    push(job, 0, 0);
    push(job, 1, 0);
    assertThat(pull).isDone();
  }

  @Test
  void theFirstRoundWaitsForRanksThatHaveNotComeYet() {
    LocalJob job = new LocalJob(LocalJob.spec(Mode.SYNC, 2, 1, OptimizerSpec.sgd(1), 0, NanPolicy.FAIL));
    job.clients.get(0).register().join();
    job.clients.get(0).initialize(LocalJob.initial()).join();
    var ack = push(job, 0, 0);
    assertThat(ack).isNotDone();
    job.nowMillis = 13_300;
    assertThat(job.shards.get(0).waits()).extracting(w -> w.sentence(job.nowMillis)).containsExactly(
        "trainer 0 waits at shard 0 of job job for trainer 1 (nothing seen yet), push of step 0, since 12.3 s");
    job.clients.get(1).register().join();
    assertThat(ack).isNotDone();
    push(job, 1, 0).join();
    assertThat(ack).isDone();
    assertThat(job.shards.get(0).waits()).isEmpty();
    assertThat(job.shards.get(0).status("job").roundWaitMillis()).containsEntry(0, 0L).containsEntry(1, 12_300L);
  }

  @Test
  void nobodyWaitsForATrainerThatHasLeft() {
    LocalJob job = new LocalJob(Mode.SYNC, 3, 1, OptimizerSpec.sgd(1));
    var ack = push(job, 0, 0);
    job.clients.get(2).leave(true).join();
    assertThat(ack).isNotDone();
    job.clients.get(1).leave(true).join();
    assertThat(ack).isDone();
    push(job, 0, 1).join();
  }

  @Test
  void aLostTrainersPushCountsIfWholeAndItsPullsFail() {
    LocalJob job = new LocalJob(Mode.SYNC, 2, 1, OptimizerSpec.sgd(1));
    push(job, 1, 0);
    var parked = job.clients.get(1).pull(1, true, List.of(), false);
    push(job, 0, 0).join();
    assertThat(parked).isCompleted();
    push(job, 1, 1);
    var late = job.clients.get(1).pull(2, true, List.of(), false);
    ParameterShard shard = job.shards.get(0);
    shard.lost("job", new TrainerId(1, 1));
    assertThat(catchThrowable(late::join)).hasCauseInstanceOf(PeerLost.class).hasMessageContaining("declared lost");
    push(job, 0, 1).join();
    push(job, 0, 2).join();
    NaiveServer naive = new NaiveServer(job.spec.model());
    naive.round(0, List.of(LocalJob.gradient(0, 0, 0), LocalJob.gradient(0, 1, 0)));
    naive.round(1, List.of(LocalJob.gradient(0, 0, 1), LocalJob.gradient(0, 1, 1)));
    naive.update(2, LocalJob.gradient(0, 0, 2).dense(), LocalJob.gradient(0, 0, 2).sparse());
    assertThat(job.digest()).isEqualTo(naive.digest());
  }

  @Test
  void aRankThatIsLostBeforeItCameIsNotWaitedFor() {
    for (int lost = 0; lost < 2; lost++) {
      int other = 1 - lost;
      LocalJob job = new LocalJob(LocalJob.spec(Mode.SYNC, 2, 1, OptimizerSpec.sgd(1), 0, NanPolicy.FAIL));
      job.clients.get(other).register().join();
      job.clients.get(other).initialize(LocalJob.initial()).join();
      var ack = push(job, other, 0);
      for (int outside : new int[] {-1, 2}) {
        job.shards.get(0).lost("job", new TrainerId(outside, 1));
      }
      assertThat(ack).as("ranks that the job does not have stand for none of it").isNotDone();
      job.shards.get(0).lost("job", new TrainerId(lost, 1));
      assertThat(ack).isDone();
    }
  }

  @Test
  void aNewIncarnationTakesOverAfterALossAndContinuesWhereTheOldOneStopped() {
    LocalJob job = new LocalJob(Mode.SYNC, 2, 1, OptimizerSpec.sgd(1));
    push(job, 0, 0);
    push(job, 1, 0);
    push(job, 1, 1);
    job.shards.get(0).lost("job", new TrainerId(1, 1));
    ParameterClient reborn = job.client(1, 2);
    reborn.register().join();
    push(job, 0, 1).join();
    var ack = push(job, 0, 2);
    assertThat(ack).isNotDone();
    assertThat(catchThrowable(() -> reborn.push(1, 1, null, null, List.of()).join()))
        .hasCauseInstanceOf(InvalidInput.class).hasMessageContaining("its next step is 2");
    reborn.push(2, 1, null, null, List.of()).join();
    assertThat(ack).isDone();
  }

  @Test
  void aStepTwiceASkippedStepAndAStepTooFarAheadAreRefused() {
    LocalJob job = new LocalJob(Mode.SYNC, 2, 1, OptimizerSpec.sgd(1));
    push(job, 0, 0);
    assertRefused(push(job, 0, 0), InvalidInput.class, "trainer 0 has pushed step 0 before");
    assertRefused(push(job, 0, 7), InvalidInput.class, "trainer 0 has skipped step 1");
    for (long step = 1; step < 64; step++) {
      push(job, 0, step);
    }
    assertRefused(push(job, 0, 64), Overloaded.class, "too far ahead", "round 0 is open");
    for (long step = 0; step < 64; step++) {
      push(job, 1, step).join();
    }
    push(job, 0, 64);
    push(job, 1, 64).join();
  }

  private static void assertRefused(CompletableFuture<?> future, Class<?> type, String... texts) {
    assertThat(future).isCompletedExceptionally();
    assertThat(catchThrowable(future::join)).isInstanceOf(CompletionException.class).hasCauseInstanceOf(
        type.asSubclass(Throwable.class)).hasMessageContainingAll(texts);
  }

  private static CompletableFuture<ParameterClient.Pushed> push(LocalJob job, int rank, long step) {
    LocalJob.Gradient g = LocalJob.gradient(0, rank, step);
    return job.clients.get(rank).push(step, g.weight(), null, DenseMemory.of(g.dense()), g.sparse());
  }
}
