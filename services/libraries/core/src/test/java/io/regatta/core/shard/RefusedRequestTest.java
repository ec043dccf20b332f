package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.regatta.core.dense.DenseMemory;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Pulled;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.exchange.Wait;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.model.DensePartition;
import io.regatta.core.model.SparsePartition;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.testing.TestClock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class RefusedRequestTest {

  private static final Contributor ME = new Contributor(1, 1, 1, 8);
  /** Two ids that live on shard 0 of 2, and one that does not. */
  private static final long[] MINE = LongStream.range(0, 100).filter(id -> SparsePartition.shardOf(id, 2) == 0)
      .limit(2).toArray();
  private static final long FOREIGN = LongStream.range(0, 100).filter(id -> SparsePartition.shardOf(id, 2) == 1)
      .findFirst().orElseThrow();

  @ParameterizedTest(name = "{0}")
  @MethodSource("badPushes")
  void aRefusedPushSaysWhatAndWhereAndChangesNothing(String name, Push bad, Class<?> type, List<String> texts) {
    for (Mode mode : List.of(Mode.SYNC, Mode.ASYNC, Mode.GEO)) {
      ParameterShard shard = shard(mode, NanPolicy.FAIL);
      Answer<PushAck> other = Answer.to(shard.push("job",
          push(new Contributor(0, 1, 1, 8), 0, 0, dense(shard), rows(LocalJob.WIDE, 1, MINE))));
      long digest = shard.digest("job");
      ParameterShard.JobStatus status = shard.status("job");

      Answer<PushAck> answer = Answer.to(shard.push("job", bad));
      assertThat(answer.error).as("%s", mode).isInstanceOf(type).hasMessageContainingAll(
          texts.toArray(String[]::new));
      assertThat(shard.digest("job")).isEqualTo(digest);
      assertThat(shard.status("job")).isEqualTo(status);

      Answer<PushAck> good = Answer.to(shard.push("job", push(ME, 0, 0, dense(shard), rows(LocalJob.WIDE, 1, MINE))));
      assertThat(good.value).as("the others train on").isNotNull();
      assertThat(other.value).isNotNull();
    }
  }

  static Stream<Arguments> badPushes() {
    int size = shard(Mode.SYNC, NanPolicy.FAIL).status("job").denseSize();
    float[] nan = new float[size];
    nan[3] = Float.NaN;
    float nul = 0;
    return Stream.of(
        bad("dense too short", push(ME, 0, 0, new float[size - 1]), InvalidInput.class,
            "push of step 0 of trainer 1", "shard 0 of job job", "has " + (size - 1) + " dense", "has " + size),
        bad("unknown table", push(ME, 0, 0, null, rows("nope", 1, MINE)), InvalidInput.class,
            "unknown sparse table 'nope'", "[wide, deep]"),
        bad("table twice", push(ME, 0, 0, null, rows(LocalJob.WIDE, 1, MINE), rows(LocalJob.WIDE, 1, MINE)),
            InvalidInput.class, "'wide' twice"),
        bad("wrong dim", push(ME, 0, 0, null, rows(LocalJob.DEEP, 2, MINE)), InvalidInput.class,
            "4 values for 2 rows of table 'deep'", "rows have 3 values"),
        bad("foreign id", push(ME, 0, 0, null, rows(LocalJob.WIDE, 1, FOREIGN)), InvalidInput.class,
            "id " + FOREIGN + " of table 'wide'", "belongs to shard 1 of 2"),
        bad("duplicate id", push(ME, 0, 0, null, rows(LocalJob.WIDE, 1, MINE[1], MINE[0], MINE[1])),
            InvalidInput.class, "id " + MINE[1] + " of table 'wide' twice"),
        bad("dense NaN", push(ME, 0, 0, nan), InvalidInput.class, "dense element 3 is NaN", "learning rate"),
        bad("sparse infinity", push(ME, 0, 0, null,
            new SparseRows(LocalJob.WIDE, MINE, new float[] {0, 1 / nul})), InvalidInput.class,
            "id " + MINE[1] + " of table 'wide' holds Infinity"),
        bad("no contributor", new Push(List.of(), 0, 0, null, List.of()), InvalidInput.class, "no contributor"),
        bad("unregistered rank", push(new Contributor(2, 1, 1, 8), 0, 0, null), InvalidInput.class,
            "trainer 2 is not registered"),
        bad("older incarnation", push(new Contributor(1, 0, 1, 8), 0, 0, null), StaleGeneration.class,
            "incarnation 0", "as incarnation 1"),
        bad("contributors out of order", new Push(List.of(ME, new Contributor(0, 1, 2, 8)), 0, 0, null, List.of()),
            InvalidInput.class, "ascending rank order"),
        bad("sequence 0", push(new Contributor(1, 1, 0, 8), 0, 0, null), InvalidInput.class, "sequence 0"),
        bad("negative weight", push(new Contributor(1, 1, 1, -1), 0, 0, null), InvalidInput.class, "weight -1.0"),
        bad("new and old mixed", new Push(List.of(new Contributor(0, 1, 1, 8), ME), 0, 0, null, List.of()),
            InvalidInput.class, "mixes gradients"),
        bad("version of the future", push(ME, 0, 99, null), InvalidInput.class, "version 99"),
        bad("negative step", push(ME, -1, 0, null), InvalidInput.class, "step -1"));
  }

  @Test
  void anUnknownJobIsNamed() {
    ParameterShard shard = shard(Mode.SYNC, NanPolicy.FAIL);
    Answer<PushAck> push = Answer.to(shard.push("other", push(ME, 0, 0, null)));
    Answer<Pulled> pull = Answer.to(shard.pull("other", new Pull(1, 0, true, List.of(), false)));
    assertThat(push.error).isInstanceOf(InvalidInput.class).hasMessageContaining("job 'other' is not on shard 0");
    assertThat(pull.error).isInstanceOf(InvalidInput.class).hasMessageContaining("job 'other' is not on shard 0");
  }

  @Test
  void aPushBeforeInitialisationIsRefused() {
    LocalJob job = new LocalJob(LocalJob.spec(Mode.ASYNC, 1, 1, OptimizerSpec.sgd(1), 0, NanPolicy.FAIL));
    job.clients.get(0).register().join();
    Answer<PushAck> answer = Answer.to(job.shards.get(0).push("job", push(new Contributor(0, 1, 1, 1), 0, 0, null)));
    assertThat(answer.error).isInstanceOf(InvalidInput.class).hasMessageContaining("before the dense vector");
  }

  @Test
  void pullsAreCheckedToo() {
    ParameterShard shard = shard(Mode.SYNC, NanPolicy.FAIL);
    assertPullRefused(shard, new Pull(2, 0, true, List.of(), false), "trainer 2 is not registered");
    assertPullRefused(shard, new Pull(1, 0, true, List.of(), true), "for changed rows, which mode");
    assertPullRefused(shard, new Pull(1, 0, true, List.of(new SparseIds("nope", MINE)), false), "'nope'");
    assertPullRefused(shard, new Pull(1, 0, true, List.of(new SparseIds(LocalJob.WIDE, new long[] {FOREIGN})), false),
        "belongs to shard 1 of 2");
    assertThat(shard.status("job").rows()).containsEntry(LocalJob.WIDE, 0L);
  }

  @Test
  void aPullOfAnOlderLifeIsRefusedAndAWithdrawnOneIsNotAnswered() {
    ParameterShard shard = shard(Mode.SYNC, NanPolicy.FAIL);
    Pull next = new Pull(1, 1, true, List.of(), false);
    Answer<Pulled> stale = Answer.to(shard.pull("job", new TrainerId(1, 0), next));
    assertThat(stale.error).isInstanceOf(StaleGeneration.class);
    Answer<Pulled> withdrawn = Answer.to(shard.pull("job", new TrainerId(1, 1), next));
    shard.withdraw("job", withdrawn.request);
    assertThat(shard.waits()).isEmpty();
    shard.push("job", push(ME, 0, 0, null));
    shard.push("job", push(new Contributor(0, 1, 1, 1), 0, 0, null));
    assertThat(withdrawn.value).isNull();
    assertThat(withdrawn.error).isNull();
  }

  private static void assertPullRefused(ParameterShard shard, Pull pull, String text) {
    Answer<Pulled> answer = Answer.to(shard.pull("job", pull));
    assertThat(answer.error).isInstanceOf(InvalidInput.class).hasMessageContaining(text);
  }

  @Test
  void limitsAreNamedAndLeaveEverythingAsItWas() {
    JobSpec spec = LocalJob.spec(Mode.SYNC, 2, 1, OptimizerSpec.sgd(1), 0, NanPolicy.FAIL);
    ParameterShard shard = new ParameterShard(0, new ShardLimits(1, 4, 1, 5), TestClock.at(0));
    TrainerId[] ids = {new TrainerId(0, 1), new TrainerId(1, 1)};
    shard.register(spec, ids[0], 0);
    shard.register(spec, ids[1], 0);
    shard.initialize("job", ids[0], DenseMemory.of(LocalJob.initial()));

    Answer<Pulled> tooManyRows =
        Answer.to(shard.pull("job", new Pull(0, 0, false, List.of(new SparseIds(LocalJob.WIDE, new long[] {1, 2, 3}),
        new SparseIds(LocalJob.DEEP, new long[] {1, 2, 3})), false)));
    assertThat(tooManyRows.error).isInstanceOf(Overloaded.class).hasMessageContaining("6 new sparse rows")
        .hasMessageContaining("limit of 5 rows");
    assertThat(shard.status("job").rows()).containsEntry(LocalJob.WIDE, 0L);

    Answer<PushAck> fits =
        Answer.to(shard.push("job", push(new Contributor(0, 1, 1, 1), 0, 0, null, rows(LocalJob.WIDE, 1, 1, 2, 3))));
    Answer<PushAck> overTheRound =
        Answer.to(shard.push("job", push(new Contributor(1, 1, 1, 1), 0, 0, null, rows(LocalJob.WIDE, 1, 4, 5, 6))));
    assertThat(overTheRound.error).as("rows that the open round will bear count").isInstanceOf(Overloaded.class);
    shard.push("job", push(new Contributor(1, 1, 1, 1), 0, 0, null, rows(LocalJob.WIDE, 1, 3)));
    assertThat(fits.value).isNotNull();
    assertThat(shard.status("job").rows()).containsEntry(LocalJob.WIDE, 3L);

    Answer<Pulled> parked = Answer.to(shard.pull("job", new Pull(0, 2, true, List.of(), false)));
    Answer<Pulled> oneTooMany = Answer.to(shard.pull("job", new Pull(1, 2, true, List.of(), false)));
    assertThat(oneTooMany.error).isInstanceOf(Overloaded.class).hasMessageContaining("1 pulls wait");
    assertThat(parked.error).isNull();
  }

  @Test
  void atTheLimitOfRowsOnlyNewOnesAreRefused() {
    JobSpec spec = LocalJob.spec(Mode.ASYNC, 1, 1, OptimizerSpec.sgd(1), 0, NanPolicy.FAIL);
    ParameterShard shard = new ParameterShard(0, new ShardLimits(1, 4, 1, 5), TestClock.at(0));
    TrainerId id = new TrainerId(0, 1);
    shard.register(spec, id, 0);
    shard.initialize("job", id, DenseMemory.of(LocalJob.initial()));
    Pull five = new Pull(0, 0, false, List.of(new SparseIds(LocalJob.WIDE, new long[] {1, 2, 3, 4, 5})), false);
    for (int i = 0; i < 2; i++) {
      Answer<Pulled> answer = Answer.to(shard.pull("job", five));
      assertThat(answer.error).isNull();
    }
    Answer<PushAck> known =
        Answer.to(shard.push("job", push(new Contributor(0, 1, 1, 1), 0, 0, null, rows(LocalJob.WIDE, 1, 5, 2, 1))));
    Answer<PushAck> born =
        Answer.to(shard.push("job", push(new Contributor(0, 1, 2, 1), 1, 0, null, rows(LocalJob.WIDE, 1, 5, 6))));
    assertThat(known.error).isNull();
    assertThat(born.error).isInstanceOf(Overloaded.class).hasMessageContaining("1 new sparse rows on top of 5");
  }

  @Test
  void theSkipPolicyCountsDropsAndTicks() {
    for (Mode mode : List.of(Mode.SYNC, Mode.ASYNC)) {
      LocalJob job = new LocalJob(LocalJob.spec(mode, 2, 1, OptimizerSpec.of("adagrad", 0.1), 0, NanPolicy.SKIP));
      job.start();
      ParameterShard shard = job.shards.get(0);
      float[] nan = dense(shard);
      nan[0] = Float.NEGATIVE_INFINITY;
      long digest = shard.digest("job");
      Answer<PushAck> skipped = Answer.to(shard.push("job", push(ME, 0, 0, nan, rows(LocalJob.WIDE, 1, MINE))));
      shard.push("job", push(new Contributor(0, 1, 1, 0), 0, 0, null));
      assertThat(skipped.value.skippedPush()).isTrue();
      assertThat(shard.digest("job")).isEqualTo(digest);
      assertThat(shard.status("job").skippedPushes()).isEqualTo(1);
      assertThat(shard.status("job").trainers().get(1).lastStep()).isZero();
    }
  }

  @Test
  void initialValuesAreFiniteOfTheRightNumberAndTheFirstOnesCount() {
    LocalJob job = new LocalJob(LocalJob.spec(Mode.SYNC, 2, 1, OptimizerSpec.sgd(1), 0, NanPolicy.FAIL));
    job.clients.forEach(c -> c.register().join());
    ParameterShard shard = job.shards.get(0);
    List<Throwable> refusals = new ArrayList<>();
    float[] nan = LocalJob.initial();
    nan[5] = Float.NaN;
    refusals.add(catchThrowable(
        () -> shard.initialize("job", new TrainerId(2, 1), DenseMemory.of(LocalJob.initial()))));
    refusals.add(catchThrowable(
        () -> shard.initialize("job", new TrainerId(0, 1), DenseMemory.of(new float[3]))));
    refusals.add(catchThrowable(
        () -> shard.initialize("job", new TrainerId(0, 1), DenseMemory.of(nan))));
    assertThat(refusals).allMatch(e -> e instanceof InvalidInput);
    Answer<Pulled> waiting = Answer.to(shard.pull("job", new Pull(1, 0, true, List.of(), false)));
    assertThat(shard.waits().get(0).waitsFor()).extracting(Wait.Peer::name).containsExactly("trainer 0");
    shard.lost("job", new TrainerId(0, 1));
    shard.initialize("job", new TrainerId(1, 1), DenseMemory.of(LocalJob.initial()));
    assertThat(waiting.value.dense().toArray()).containsExactly(LocalJob.initial());
    shard.initialize("job", new TrainerId(1, 1), DenseMemory.of(new float[24]));
    Answer<Pulled> again = Answer.to(shard.pull("job", new Pull(1, 0, true, List.of(), false)));
    assertThat(again.value.dense().toArray()).containsExactly(LocalJob.initial());
  }

  /** Shard 0 of 2 with trainers 0 and 1 of 2 registered and the dense vector initialised. */
  private static ParameterShard shard(Mode mode, NanPolicy nan) {
    LocalJob job = new LocalJob(LocalJob.spec(mode, 2, 2, OptimizerSpec.of("adagrad", 0.1), 0, nan));
    job.start();
    return job.shards.get(0);
  }

  private static float[] dense(ParameterShard shard) {
    float[] g = new float[shard.status("job").denseSize()];
    Arrays.fill(g, 0.5f);
    return g;
  }

  private static SparseRows rows(String table, int dim, long... ids) {
    float[] values = new float[ids.length * dim];
    Arrays.fill(values, 1);
    return new SparseRows(table, ids, values);
  }

  private static Push push(Contributor from, long step, long version, float[] dense, SparseRows... rows) {
    return new Push(List.of(from), step, version, DenseMemory.of(dense), List.of(rows));
  }

  private static Arguments bad(String name, Push push, Class<?> type, String... texts) {
    return Arguments.of(name, push, type, List.of(texts));
  }

  /** Compares the best of some times of a small push, before and after. */
  @Test
  void aRefusedPushOfManyIdsDoesNotMakeLaterOnesSlow() {
    JobSpec spec = LocalJob.spec(Mode.ASYNC, 1, 1, OptimizerSpec.sgd(1), 0, NanPolicy.FAIL);
    ParameterShard shard = new ParameterShard(0, ShardLimits.defaults(), TestClock.at(0));
    shard.register(spec, new TrainerId(0, 1), 0);
    shard.initialize("job", new TrainerId(0, 1), DenseMemory.of(LocalJob.initial()));
    long before = bestNanos(shard, 1);
    long[] ids = LongStream.range(0, 4_000_000).map(i -> -i).toArray();
    ids[ids.length - 1] = ids[0];
    Answer<PushAck> twice =
        Answer.to(shard.push("job", push(new Contributor(0, 1, 100, 1), 99, 0, null, rows(LocalJob.WIDE, 1, ids))));
    assertThat(twice.error).isInstanceOf(InvalidInput.class).hasMessageContaining("twice");
    assertThat(bestNanos(shard, 100)).isLessThan(50 * before + 1_000_000);
  }

  private static long bestNanos(ParameterShard shard, long sequence) {
    long best = Long.MAX_VALUE;
    for (long s = sequence; s < sequence + 20; s++) {
      Push small = push(new Contributor(0, 1, s, 1), s - 1, 0, null, rows(LocalJob.WIDE, 1, 5, 3, 1));
      long begin = System.nanoTime();
      Answer<PushAck> answer = Answer.to(shard.push("job", small));
      best = Math.min(best, System.nanoTime() - begin);
      assertThat(answer.value).isNotNull();
    }
    return best;
  }

  /** The others could not know that a part of the push was dropped here. */
  @Test
  void aPushWithNanIsRefused_whenTheJobHasOtherShards() {
    for (Mode mode : List.of(Mode.SYNC, Mode.ASYNC)) {
      JobSpec spec = LocalJob.spec(mode, 1, 3, OptimizerSpec.sgd(1), 0, NanPolicy.SKIP);
      ParameterShard shard = new ParameterShard(0, ShardLimits.defaults(), TestClock.at(1));
      shard.register(spec, new TrainerId(0, 1), 0);
      float[] nan = new float[DensePartition.of(spec.model().dense(), spec.sharding(), spec.minBlock()).sizeOf(0)];
      shard.initialize("job", new TrainerId(0, 1), DenseMemory.of(nan.clone()));
      long digest = shard.digest("job");
      nan[1] = Float.NaN;
      Answer<PushAck> answer = Answer.to(shard.push("job", push(new Contributor(0, 1, 1, 1), 0, 0, nan)));
      assertThat(answer.error).isInstanceOf(InvalidInput.class).hasMessageContaining("dense element 1 is NaN")
          .hasMessageContaining("the other 2 of the job's shards");
      assertThat(shard.digest("job")).isEqualTo(digest);
      Answer<PushAck> instead = Answer.to(shard.push("job", push(new Contributor(0, 1, 1, 0), 0, 0, null)));
      assertThat(instead.value.skippedPush()).isFalse();
      assertThat(shard.status("job").version()).isEqualTo(1);
    }
  }

  /** The rendezvous knows no group of a longer name, so nobody would say that its trainers are lost. */
  @Test
  void aJobsNameIsRefused_whenTheRendezvousWouldRefuseIt() {
    JobSpec spec = LocalJob.spec(Mode.ASYNC, 1, 1, OptimizerSpec.sgd(1), 0, NanPolicy.FAIL);
    ParameterShard shard = new ParameterShard(0, ShardLimits.defaults(), TestClock.at(1));
    assertThatThrownBy(() -> shard.register(named(spec, "n".repeat(513)), new TrainerId(0, 1), 0))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("513 characters").hasMessageContaining("at most 512");
    assertThat(shard.jobs()).isEmpty();
    shard.register(named(spec, "n".repeat(512)), new TrainerId(0, 1), 0);
    assertThat(shard.jobs()).hasSize(1);
  }

  private static JobSpec named(JobSpec job, String name) {
    return new JobSpec(name, job.mode(), job.trainers(), job.stalenessBound(), job.nanPolicy(), job.shards(), job.minBlock(),
        job.model());
  }
}
