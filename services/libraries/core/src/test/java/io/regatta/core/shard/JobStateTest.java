package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.dense.BlockPool;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.dense.DenseSink;
import io.regatta.core.dense.DenseValues;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.OptimizerUpdates;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Pulled;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.PushMark;
import io.regatta.core.exchange.ResumePoint;
import io.regatta.core.exchange.Shrunk;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.memory.ShardMemory;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.model.TableLife;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.shard.internal.geo.GeoStrategy;
import io.regatta.core.shard.internal.job.Completions;
import io.regatta.core.shard.internal.job.TimeSlices;
import io.regatta.core.shard.internal.push.TrainerState;
import io.regatta.core.table.TableSnapshot.Scope;
import io.regatta.core.testing.TestClock;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * Tests of what one job on a shard owes: dates, time slices, refusals when it is broken, and ends of requests that
 * wait.
 */
class JobStateTest {

  private static final String PLAIN = "plain";
  private static final String TRACKED = "tracked";
  /** Rows that take more than one turn to be pulled, or pushed. */
  private static final int LARGE = 2 * TimeSlices.FLOATS / TimeSlices.ROW_FLOATS;

  private final LaterTurns turns = new LaterTurns();
  private long nowMillis = 1;

  private static JobSpec job(Mode mode, int trainers, int dense) {
    OptimizerSpec sgd = OptimizerSpec.sgd(1);
    return new JobSpec("job", mode, trainers, 0, NanPolicy.FAIL, 1, 1, new ModelSpec(7,
        dense == 0 ? List.of() : List.of(new DenseVariable("w", List.of(dense))), sgd,
        List.of(new SparseTableSpec(PLAIN, 1, InitializerSpec.zeros(), sgd),
            new SparseTableSpec(TRACKED, 1, InitializerSpec.zeros(), sgd,
                mode == Mode.GEO ? TableLife.NONE : TableLife.NONE.withShrinkUnseenDays(1)))));
  }

  /** A shard with the first of a job's trainers; others are to come. */
  private ParameterShard shard(JobSpec job, int registered) {
    ParameterShard shard = new ParameterShard(0, ShardLimits.defaults(), TestClock.of(() -> nowMillis), turns);
    for (int rank = 0; rank < registered; rank++) {
      shard.register(job, new TrainerId(rank, 1), 0);
    }
    return shard;
  }

  private static Push pushOf(int rank, long sequence, DenseValues dense, SparseRows... rows) {
    return new Push(List.of(new Contributor(rank, 1, sequence, 1)), sequence - 1, 0, dense, List.of(rows));
  }

  private static SparseRows rows(long... ids) {
    return new SparseRows(PLAIN, ids, new float[ids.length]);
  }

  private static Answer<PushAck> push(ParameterShard shard, Push push) {
    return Answer.to(shard.push("job", push));
  }

  private static Answer<Pulled> pull(ParameterShard shard, int rank, long minStep, String table, int rows) {
    return Answer.to(shard.pull("job",
        new Pull(rank, minStep, false, List.of(new SparseIds(table, LongStream.range(0, rows).toArray())), false)));
  }

  /** Asks for {@link #LARGE} rows, which use up the time slice and leave work for later ones. */
  private static void useUpTheTurn(ParameterShard shard) {
    assertThat(pull(shard, 0, 0, PLAIN, LARGE).value).isNull();
  }

  private Answer<JobSnapshot> snapshot(ParameterShard shard, long step, PushMark... upTo) {
    return Answer.to(shard.snapshot("job", "", step, List.of(upTo), Scope.ALL, 1 << 20));
  }

  private static Answer<List<PushMark>> hold(ParameterShard shard) {
    return Answer.to(shard.hold("job", ""));
  }

  private void assertSeenNow(ParameterShard shard, String by) {
    assertThat(shard.status("job").trainers().get(0).lastSeenMillis()).as(by).isEqualTo(nowMillis);
    nowMillis += 10;
  }

  @Test
  void datesATrainerByEachOfItsRequests() {
    JobSpec job = job(Mode.ASYNC, 2, 2);
    ParameterShard shard = shard(job, 2);
    TrainerId me = new TrainerId(0, 1);
    assertSeenNow(shard, "registration");
    shard.initialize("job", me, DenseMemory.of(new float[2]));
    assertSeenNow(shard, "initialisation");
    shard.registerAgain("job", me);
    assertSeenNow(shard, "another stream");
    Push push = pushOf(0, 1, null, rows(1));
    push(shard, push);
    assertSeenNow(shard, "push");
    assertThat(push(shard, push).value.repeatedPush()).isTrue();
    assertSeenNow(shard, "the same push again");
    assertThat(shard.begin("job", pushOf(0, 2, null), 2)).isNotNull();
    assertSeenNow(shard, "beginning of a push");
    pull(shard, 0, 0, PLAIN, 1);
    assertSeenNow(shard, "pull");
    shard.shrink("job", me, 1, false);
    assertSeenNow(shard, "shrink");
    push(shard, new Push(List.of(new Contributor(0, 1, 3, 0)), Push.SITTING_OUT, 0, null, List.of()));
    assertSeenNow(shard, "sitting out");
    assertThat(shard.status("job").trainers().get(1).lastSeenMillis()).isEqualTo(1);
  }

  @Test
  void refusesAllRequests_whenItIsBroken() {
    ParameterShard shard = shard(job(Mode.ASYNC, 1, 2), 1);
    shard.restore("job").fail(new IOException("a file is missing"));
    TrainerId me = new TrainerId(0, 1);
    assertThatThrownBy(() -> shard.initialize("job", me, DenseMemory.of(new float[2]))).isInstanceOf(PeerLost.class);
    assertThatThrownBy(() -> shard.begin("job", pushOf(0, 1, null), 2)).isInstanceOf(PeerLost.class);
    assertThatThrownBy(() -> shard.restore("job")).isInstanceOf(PeerLost.class);
    Answer<Shrunk> shrunk = Answer.to(shard.shrink("job", me, 1, false));
    for (Answer<?> refused : List.of(shrunk, snapshot(shard, 0), hold(shard), push(shard, pushOf(0, 1, null)),
        pull(shard, 0, 0, PLAIN, 1))) {
      assertThat(refused.error).isInstanceOf(PeerLost.class).hasMessageContaining("a file is missing");
    }
  }

  @Test
  void answersAtOnceWhatARegistrationReleases() {
    JobSpec job = job(Mode.SSP, 2, 0);
    ParameterShard shard = shard(job, 1);
    push(shard, pushOf(0, 1, null));
    Answer<Pulled> waiting = pull(shard, 0, 1, PLAIN, 1);
    useUpTheTurn(shard);
    shard.register(job, new TrainerId(1, 1), 1);
    assertThat(waiting.value).isNotNull();
  }

  @Test
  void answersAtOnceWhatALeaveReleases() {
    ParameterShard shard = shard(job(Mode.SSP, 2, 0), 2);
    push(shard, pushOf(0, 1, null));
    Answer<Pulled> waiting = pull(shard, 0, 1, PLAIN, 1);
    useUpTheTurn(shard);
    assertThat(waiting.value).isNull();
    shard.leave("job", new TrainerId(1, 1));
    assertThat(waiting.value).isNotNull();
  }

  @Test
  void answersAtOnceWhatARestoredStateReleases() {
    ParameterShard shard = shard(job(Mode.SYNC, 1, 0), 1);
    Answer<Pulled> waiting = pull(shard, 0, 10, PLAIN, 1);
    useUpTheTurn(shard);
    assertThat(waiting.value).isNull();
    shard.restore("job").finish(new float[0][], new float[0][][], 10, OptimizerUpdates.all(10, List.of(PLAIN, TRACKED)),
        new ResumePoint(10, List.of()));
    assertThat(waiting.value).isNotNull();
  }

  @Test
  void beginsAPushAndAShrink_whateverRequestsBeforeHaveUsedOfTheirTurns() {
    ParameterShard shard = shard(job(Mode.ASYNC, 2, 2), 2);
    shard.initialize("job", new TrainerId(0, 1), DenseMemory.of(new float[2]));
    useUpTheTurn(shard);
    assertThat(shard.begin("job", pushOf(1, 1, null, rows(1)), 2)).isNotNull();
    assertThat(pull(shard, 1, 0, TRACKED, 3).value).isNotNull();
    useUpTheTurn(shard);
    Answer<Shrunk> shrunk = Answer.to(shard.shrink("job", new TrainerId(0, 1), 1, false));
    assertThat(shrunk.value.left()).isGreaterThanOrEqualTo(3);
  }

  @Test
  void answersAtOnceThePullForWhichAnotherLeavesRoom() {
    ParameterShard shard = new ParameterShard(0, new ShardLimits(4, 4, 64, 1_000_000, 0, false,
        ShardMemory.own((LARGE + 1L) * Float.BYTES)), TestClock.of(() -> nowMillis), turns);
    shard.register(job(Mode.ASYNC, 1, 0), new TrainerId(0, 1), 0);
    Answer<Pulled> first = pull(shard, 0, 0, PLAIN, LARGE);
    Answer<Pulled> second = pull(shard, 0, 0, TRACKED, 2);
    assertThat(second.value).isNull();
    shard.withdraw("job", first.request);
    assertThat(second.value).isNotNull();
  }

  @Test
  void tellsATrainerOfEarlierChanges_whenItComesOverANewStream() {
    JobSpec job = job(Mode.GEO, 2, 0);
    ParameterShard shard = shard(job, 2);
    push(shard, pushOf(0, 1, null, rows(4, 9)));
    shard.register(job, new TrainerId(1, 1), 0);
    Answer<Pulled> changed = Answer.to(shard.pull("job", new Pull(1, 0, false, List.of(), true)));
    assertThat(changed.value.sparse().get(0).ids()).containsExactlyInAnyOrder(4, 9);
  }

  @Test
  void forgetsChanges_whenAllWhoAreLeftHaveBeenTold() {
    JobState job = new JobState(job(Mode.GEO, 3, 0), 0, ShardLimits.defaults(), new BlockPool(), TestClock.at(1), null,
        new Completions());
    for (int rank = 0; rank < 3; rank++) {
      job.register(new TrainerId(rank, 1), 0);
    }
    job.push(pushOf(0, 1, null, rows(1, 2, 3)), new CompletableFuture<>());
    changed(job, 0);
    changed(job, 1);
    changed(job, 0);
    assertThat(((GeoStrategy) job.strategy).changes().size()).as("trainer 2 is still to be told").isEqualTo(3);
    job.end(new TrainerId(2, 1), TrainerState.Phase.LOST);
    changed(job, 0);
    assertThat(((GeoStrategy) job.strategy).changes().size()).isZero();
    job.push(pushOf(0, 2, null, rows(4)), new CompletableFuture<>());
    changed(job, 1);
    changed(job, 0);
    assertThat(((GeoStrategy) job.strategy).changes().size()).isEqualTo(1);
    changed(job, 1);
    assertThat(((GeoStrategy) job.strategy).changes().size()).as("behind the answer to the last").isZero();
  }

  private static void changed(JobState job, int rank) {
    job.pull(new Pull(rank, 0, false, List.of(), true), new CompletableFuture<>());
    job.context.completions.drain();
  }

  @Test
  void refusesInitialValues_whenTheVeryFirstIsNotFinite() {
    ParameterShard shard = shard(job(Mode.ASYNC, 1, 2), 1);
    assertThatThrownBy(() -> shard.initialize("job", new TrainerId(0, 1), DenseMemory.of(new float[] {Float.NaN, 0})))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("NaN at element 0");
  }

  @Test
  void numbersUpdatesOnFromTheStepThatAllBeginWith() {
    JobSpec job = job(Mode.SYNC, 2, 0);
    ParameterShard shard = shard(job, 0);
    shard.register(job, new TrainerId(0, 1), 5);
    shard.register(job, new TrainerId(1, 1), 5);
    assertThat(shard.status("job").version()).isEqualTo(5);
  }

  @Test
  void answersASittingTrainerOnce_andTakesNoGradientFromIt() {
    ParameterShard shard = shard(job(Mode.ASYNC, 2, 0), 2);
    Push sitting = new Push(List.of(new Contributor(0, 1, 1, 0)), Push.SITTING_OUT, 0, null, List.of(rows(1)));
    assertThat(push(shard, sitting).error).isInstanceOf(InvalidInput.class).hasMessageContaining("holds no gradients");
    Push empty = new Push(List.of(new Contributor(0, 1, 1, 0)), Push.SITTING_OUT, 0, null, List.of());
    assertThat(push(shard, empty).value.repeatedPush()).isFalse();
    assertThat(push(shard, pushOf(0, 2, null)).error).isInstanceOf(InvalidInput.class).hasMessageContaining("sits out");
    assertThat(shard.status("job").version()).isZero();
  }

  @Test
  void releasesTheGradientOfARepeatedPush() {
    ParameterShard shard = shard(job(Mode.ASYNC, 1, 2), 1);
    shard.initialize("job", new TrainerId(0, 1), DenseMemory.of(new float[2]));
    int[] released = new int[1];
    DenseValues gradient = new DenseValues() {
      @Override
      public int size() {
        return 2;
      }

      @Override
      public float[] block(int b) {
        return new float[2];
      }

      @Override
      public void release() {
        released[0]++;
      }
    };
    push(shard, pushOf(0, 1, gradient));
    assertThat(released[0]).isEqualTo(1);
    assertThat(push(shard, pushOf(0, 1, gradient)).value.repeatedPush()).isTrue();
    assertThat(released[0]).isEqualTo(2);
  }

  @Test
  void answersAHold_whenThePushUnderWayHasEnded() {
    ParameterShard shard = shard(job(Mode.ASYNC, 1, 0), 1);
    Answer<PushAck> large = push(shard, pushOf(0, 1, null, rows(LongStream.range(0, LARGE).toArray())));
    Answer<List<PushMark>> held = hold(shard);
    assertThat(large.value).isNull();
    assertThat(held.value).isNull();
    turns.runAll();
    assertThat(large.value).isNotNull();
    assertThat(held.value).containsExactly(new PushMark(0, 1, 1));
  }

  @Test
  void letsHeldPushesIn_whenTheHoldEndsWithoutASnapshot() {
    ParameterShard shard = shard(job(Mode.ASYNC, 1, 0), 1);
    hold(shard);
    Answer<PushAck> held = push(shard, pushOf(0, 1, null));
    assertThat(held.value).isNull();
    shard.endHold("job", "");
    assertThat(held.value).isNotNull();
  }

  @Test
  void takesASnapshotThatIsNotWhole_whenAHoldEndsInTheMiddleOfAPush() {
    ParameterShard shard = shard(job(Mode.ASYNC, 1, 2), 1);
    shard.initialize("job", new TrainerId(0, 1), DenseMemory.of(new float[2]));
    DenseSink stalled = shard.begin("job", pushOf(0, 1, null), 2);
    assertThat(stalled).isNotNull();
    hold(shard);
    Answer<JobSnapshot> taken = snapshot(shard, 0, new PushMark(0, 1, 1));
    assertThat(taken.value).isNull();
    shard.endHold("job", "");
    assertThat(taken.value.whole()).isFalse();
  }

  @Test
  void closesTheNextRound_whenASnapshotHasHeldItBack() {
    ParameterShard shard = shard(job(Mode.SYNC, 2, 0), 2);
    Answer<PushAck> first = push(shard, pushOf(1, 1, null));
    Answer<PushAck> second = push(shard, pushOf(1, 2, null));
    Answer<JobSnapshot> taken = snapshot(shard, 1);
    assertThat(taken.value).isNull();
    shard.leave("job", new TrainerId(0, 1));
    assertThat(first.value).isNotNull();
    assertThat(taken.value.step()).isEqualTo(1);
    assertThat(taken.value.version()).isEqualTo(1);
    assertThat(second.value).isNotNull();
  }

  @Test
  void failsWhatWaits_whenItsLastTrainerIsLost() {
    ParameterShard shard = shard(job(Mode.ASYNC, 1, 0), 1);
    pull(shard, 0, 0, TRACKED, 4 * LARGE * 10);
    turns.runAll();
    Answer<Shrunk> shrunk = Answer.to(shard.shrink("job", new TrainerId(0, 1), 1, false));
    assertThat(hold(shard).value).isNotNull();
    Answer<PushAck> held = push(shard, pushOf(0, 7, null));
    Answer<JobSnapshot> snapshot = snapshot(shard, 0, new PushMark(0, 1, 5));
    List<Answer<?>> waiting = List.of(shrunk, held, snapshot);
    assertThat(waiting).allSatisfy(a -> assertThat(a.value == null && a.error == null).isTrue());
    shard.lost("job", new TrainerId(0, 1));
    assertThat(waiting).allSatisfy(a -> assertThat(a.error).isInstanceOf(Cancelled.class).hasMessageContaining("given up"));
    turns.runAll();
    assertThat(shard.jobs()).isEmpty();
  }

  @Test
  void countsTheRowsThatAPushInTurnsWillBear_inTheLimitOfOthers() {
    ParameterShard shard = new ParameterShard(0, new ShardLimits(4, 4, 64, LARGE + 10), TestClock.of(() -> nowMillis), turns);
    shard.register(job(Mode.ASYNC, 2, 0), new TrainerId(0, 1), 0);
    shard.register(job(Mode.ASYNC, 2, 0), new TrainerId(1, 1), 0);
    Answer<PushAck> large = push(shard, pushOf(0, 1, null, rows(LongStream.range(0, LARGE).toArray())));
    assertThat(large.value).isNull();
    assertThat(pull(shard, 1, 0, TRACKED, 11).error).isInstanceOf(Overloaded.class).hasMessageContaining("on top of " + LARGE);
    assertThat(pull(shard, 1, 0, TRACKED, 10).value).isNotNull();
    turns.runAll();
    assertThat(large.value).isNotNull();
  }

  /** The policy drops what has not been applied of it. */
  @Test
  void appliesNoMoreOfAPush_whenItIsRepeatedWithOtherValuesThatAreNotFinite() {
    int n = DenseValues.BLOCK + 2;
    OptimizerSpec sgd = OptimizerSpec.sgd(1);
    ParameterShard shard = shard(new JobSpec("job", Mode.ASYNC, 1, 0, NanPolicy.SKIP, 1, 1,
        new ModelSpec(7, List.of(new DenseVariable("w", List.of(n))), sgd, List.of())), 1);
    shard.initialize("job", new TrainerId(0, 1), DenseMemory.of(new float[n]));
    List<Contributor> me = List.of(new Contributor(0, 1, 1, 1));
    float[] gradient = new float[n];
    gradient[0] = -8;
    DenseSink brokenOff = shard.begin("job", new Push(me, 0, 0, null, List.of(), true), n);
    ByteBuffer first = ByteBuffer.allocate(DenseValues.BLOCK * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    first.asFloatBuffer().put(gradient, 0, DenseValues.BLOCK);
    brokenOff.put(first);
    gradient[n - 2] = -4;
    gradient[n - 1] = Float.NaN;
    assertThat(push(shard, new Push(me, 0, 0, DenseMemory.of(gradient), List.of())).value.skippedPush()).isTrue();
    Answer<Pulled> values = Answer.to(shard.pull("job", new Pull(0, 0, true, List.of(), false)));
    assertThat(values.value.dense().at(0)).isEqualTo(8);
    assertThat(values.value.dense().at(n - 2)).isZero();
    assertThat(values.value.dense().at(n - 1)).isZero();
  }

  /** Before their rows are looked at, which may take turns. */
  @Test
  void refusesAPushThatCannotBegin_whateverItHolds() {
    ParameterShard shard = shard(job(Mode.ASYNC, 2, 2), 2);
    shard.initialize("job", new TrainerId(0, 1), DenseMemory.of(new float[2]));
    SparseRows many = rows(LongStream.range(0, 20_000).toArray());
    Push future = new Push(List.of(new Contributor(0, 1, 1, 1)), 0, 99, null, List.of(many));
    assertThatThrownBy(() -> shard.begin("job", future, 2)).isInstanceOf(InvalidInput.class).hasMessageContaining("version 99");
    push(shard, new Push(List.of(new Contributor(1, 1, 1, 0)), Push.SITTING_OUT, 0, null, List.of()));
    assertThatThrownBy(() -> shard.begin("job", pushOf(1, 2, null, many), 2)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("sits out");
    assertThat(shard.begin("job", pushOf(0, 1, null, many), 2)).as("kept until it is whole").isNull();
  }
}
