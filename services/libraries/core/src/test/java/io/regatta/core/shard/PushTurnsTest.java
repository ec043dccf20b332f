package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.dense.DenseMemory;
import io.regatta.core.dense.DenseSink;
import io.regatta.core.dense.DenseValues;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Pulled;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.SavedTrainer;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.exchange.TrainerProgress;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.shard.internal.job.TimeSlices;
import io.regatta.core.shard.internal.push.RowCheck;
import io.regatta.core.table.TableSnapshot;
import io.regatta.core.testing.TestClock;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/**
 * A push of more rows than fit one turn, and what can come between its turns. The gradients are whole numbers and the rate
 * is 1, so sums are exact; the initial values are 0.
 */
class PushTurnsTest {

  private static final int TURN_ROWS = TimeSlices.FLOATS / TimeSlices.ROW_FLOATS;
  private static final int ROWS = 3 * TURN_ROWS;
  private static final long[] IDS = LongStream.range(0, ROWS).map(i -> (i * 7919) % ROWS).toArray();
  private static final String[] TABLES = {"wide", "deep"};

  private final LaterTurns turns = new LaterTurns();

  private ParameterShard shard(Mode mode, int trainers, boolean inTurns) {
    return shard(mode, trainers, inTurns, 4);
  }

  private ParameterShard shard(Mode mode, int trainers, boolean inTurns, int openRounds) {
    return shard(mode, trainers, OptimizerSpec.sgd(1), inTurns, openRounds);
  }

  private ParameterShard shard(Mode mode, int trainers, OptimizerSpec rule, boolean inTurns) {
    return shard(mode, trainers, rule, inTurns, 4);
  }

  private ParameterShard shard(Mode mode, int trainers, OptimizerSpec rule, boolean inTurns, int openRounds) {
    ParameterShard shard = new ParameterShard(0, new ShardLimits(4, openRounds, 64, 1_000_000), TestClock.at(1),
        inTurns ? turns : null);
    return start(shard, spec(mode, trainers, rule));
  }

  private static JobSpec spec(Mode mode, int trainers, OptimizerSpec rule) {
    return new JobSpec("job", mode, trainers, 0, NanPolicy.FAIL, 1, 64, new ModelSpec(7,
        List.of(new DenseVariable("w", List.of(2))), rule, List.of(
            new SparseTableSpec(TABLES[0], 1, InitializerSpec.zeros(), rule),
            new SparseTableSpec(TABLES[1], 3, InitializerSpec.uniform(-1, 1), rule))));
  }

  private static ParameterShard start(ParameterShard shard, JobSpec spec) {
    for (int r = 0; r < spec.trainers(); r++) {
      shard.register(spec, new TrainerId(r, 1), 0);
    }
    shard.initialize("job", new TrainerId(0, 1), DenseMemory.of(new float[2]));
    return shard;
  }

  private static SparseRows rows(float value, long... ids) {
    float[] values = new float[ids.length];
    Arrays.fill(values, value);
    return new SparseRows(TABLES[0], ids, values);
  }

  private static Push push(int rank, long sequence, SparseRows... rows) {
    return new Push(List.of(new Contributor(rank, 1, sequence, 1)), sequence - 1, 0, null, List.of(rows));
  }

  private static Answer<PushAck> send(ParameterShard shard, Push push) {
    return Answer.to(shard.push("job", push));
  }

  private static Answer<Pulled> pull(ParameterShard shard, int rank, long step, long... ids) {
    return Answer.to(shard.pull("job", new Pull(rank, step, true, List.of(new SparseIds(TABLES[0], ids)), false)));
  }

  private static float[] values(Answer<Pulled> answer) {
    return answer.value.sparse().get(0).values();
  }

  /** Until some of the rows that are pushed have been applied. */
  private void runUntilApplied(ParameterShard shard) {
    while (shard.status("job").rows().get(TABLES[0]) == 0) {
      turns.poll().run();
    }
  }

  @Test
  void othersSmallRequestsComeBetweenAndItsOwnPullSeesAllOfIt() {
    ParameterShard shard = shard(Mode.ASYNC, 2, true);
    Answer<PushAck> ack = send(shard, push(0, 1, rows(1, IDS)));
    Answer<Pulled> own = pull(shard, 0, 1, IDS);
    long before = shard.status("job").rows().get(TABLES[0]);
    int n = 0;
    while (ack.value == null) {
      assertThat(turns).as("one turn at a time").hasSize(1);
      assertThat(pull(shard, 1, 0, -1 - n).value).isNotNull();
      assertThat(send(shard, push(1, n + 1, rows(5, -1 - n))).value).isNotNull();
      assertThat(own.value).isNull();
      turns.poll().run();
      n++;
      long now = shard.status("job").rows().get(TABLES[0]) - n;
      assertThat(now - before).isLessThanOrEqualTo(TURN_ROWS + TimeSlices.ROWS);
      before = now;
    }
    assertThat(n).isGreaterThanOrEqualTo(2);
    turns.runAll();
    assertThat(values(own)).containsOnly(-1);
    assertThat(values(pull(shard, 1, 0, -1, -n))).containsOnly(-5);
    assertThat(ack.value.repeatedPush()).isFalse();
  }

  @Test
  void aRefusedPushOfManyRowsChangesNothing() {
    for (Mode mode : Mode.ofServers()) {
      ParameterShard shard = shard(mode, 1, true);
      long[] twice = IDS.clone();
      twice[ROWS - 1] = twice[0];
      SparseRows infinite = rows(1, IDS);
      infinite.values()[ROWS - 1] = Float.POSITIVE_INFINITY;
      for (SparseRows bad : List.of(rows(1, twice), infinite)) {
        Answer<PushAck> refused = send(shard, push(0, 1, bad));
        turns.runAll();
        assertThat(refused.error).as("%s", mode).isInstanceOf(InvalidInput.class);
        assertThat(shard.status("job").rows()).containsEntry(TABLES[0], 0L);
        assertThat(shard.status("job").version()).isZero();
      }
      Answer<PushAck> good = send(shard, push(0, 1, rows(1, IDS)));
      turns.runAll();
      assertThat(good.value).isEqualTo(new PushAck(1, 0, false, false));
    }
  }

  @Test
  void itsOwnNextPushKeepsBehindIt() {
    ParameterShard shard = shard(Mode.SSP, 2, true);
    Answer<PushAck> first = send(shard, push(0, 1, rows(1, IDS)));
    Answer<PushAck> second = send(shard, push(0, 2, rows(2, 5)));
    Answer<Pulled> waitsForBoth = pull(shard, 1, 1, 5);
    assertThat(send(shard, push(1, 1)).value).isNotNull();
    runUntilApplied(shard);
    assertThat(List.of(first, second)).allSatisfy(a -> assertThat(a.value).isNull());
    assertThat(waitsForBoth.value).as("the clock of who pushes has not ticked").isNull();
    turns.runAll();
    assertThat(first.value.version()).isEqualTo(2);
    assertThat(second.value.version()).isEqualTo(3);
    assertThat(values(waitsForBoth)[0]).isIn(-1f, -3f);
    assertThat(values(pull(shard, 0, 1, 5, 6))).containsExactly(-3, -1);
  }

  @Test
  void repeatedInItsMiddleItIsAppliedOnce() {
    ParameterShard shard = shard(Mode.HALF_ASYNC, 1, true);
    Answer<PushAck> ack = send(shard, push(0, 1, rows(1, IDS)));
    Answer<PushAck> early = send(shard, push(0, 1, rows(1, IDS)));
    runUntilApplied(shard);
    Answer<PushAck> again = send(shard, push(0, 1, rows(1, IDS)));
    assertThat(again.value).as("not before all of it has been applied").isNull();
    turns.runAll();
    assertThat(ack.value).isEqualTo(new PushAck(1, 0, false, false));
    assertThat(early.value).isEqualTo(new PushAck(1, 0, true, false));
    assertThat(again.value).isEqualTo(new PushAck(1, 0, true, false));
    Answer<Pulled> all = pull(shard, 0, 1, IDS);
    turns.runAll();
    assertThat(values(all)).containsOnly(-1);
  }

  /** The stream breaks behind the rows, and the whole push comes over another one. */
  @Test
  void repeatedBetweenItsRowsAndItsDenseElementsItIsAppliedOnce() {
    ParameterShard shard = shard(Mode.ASYNC, 1, true);
    Push known = push(0, 1, rows(1, IDS));
    DenseSink sink = shard.begin("job", known, 2);
    assertThat(sink).isNotNull();
    sink.put(ByteBuffer.allocate(4));
    Push whole = new Push(known.contributors(), 0, 0, DenseMemory.of(new float[] {3, 4}), known.sparse());
    assertThat(shard.begin("job", known, 2)).as("its rows are being applied").isNull();
    Answer<PushAck> ack = send(shard, whole);
    assertThat(ack.value).isNull();
    turns.runAll();
    assertThat(ack.value).isEqualTo(new PushAck(1, 0, false, false));
    Answer<Pulled> all = pull(shard, 0, 1, IDS);
    turns.runAll();
    assertThat(values(all)).containsOnly(-1);
    assertThat(all.value.dense().toArray()).containsExactly(-3, -4);
  }

  @Test
  void whoIsLostOrLeavesInItsMiddleLeavesAllOfIt() {
    for (boolean leaves : new boolean[] {false, true}) {
      ParameterShard shard = shard(Mode.ASYNC, 2, true);
      Answer<PushAck> ack = send(shard, push(0, 1, rows(1, IDS)));
      Answer<Pulled> own = pull(shard, 0, 1, 5);
      runUntilApplied(shard);
      if (leaves) {
        shard.leave("job", new TrainerId(0, 1));
      } else {
        shard.lost("job", new TrainerId(0, 1));
      }
      assertThat(own.error).isInstanceOf(leaves ? Cancelled.class : PeerLost.class);
      turns.runAll();
      assertThat(ack.value).isNotNull();
      Answer<Pulled> all = pull(shard, 1, 0, IDS);
      turns.runAll();
      assertThat(values(all)).containsOnly(-1);
    }
  }

  @Test
  void whoIsLostWhileHisPushIsCheckedLeavesNothingOfIt() {
    ParameterShard shard = shard(Mode.SYNC, 2, true);
    Answer<PushAck> ack = send(shard, push(0, 1, rows(1, IDS)));
    shard.lost("job", new TrainerId(0, 1));
    Answer<PushAck> other = send(shard, push(1, 1, rows(2, 5)));
    turns.runAll();
    assertThat(ack.error).isInstanceOf(StaleGeneration.class);
    assertThat(other.value.version()).isEqualTo(1);
    assertThat(values(pull(shard, 1, 1, 5, 6))).containsExactly(-2, 0);
  }

  @Test
  void theLossOfTheLastEndsIt() {
    ParameterShard shard = shard(Mode.ASYNC, 1, true);
    Answer<PushAck> ack = send(shard, push(0, 1, rows(1, IDS)));
    runUntilApplied(shard);
    shard.lost("job", new TrainerId(0, 1));
    assertThat(shard.jobs()).isEmpty();
    assertThat(ack.error).isInstanceOf(Cancelled.class)
        .hasMessageStartingWith("push of step 0 of trainer 0 at shard 0 of job job given up");
    turns.runAll();
  }

  @Test
  void aPushOfAWrongStepIsRefused_beforeItsRowsAreLookedThrough() {
    ParameterShard shard = shard(Mode.SYNC, 2, true);
    Push late = new Push(List.of(new Contributor(0, 1, 1, 1)), 3, 0, null, List.of(rows(1, IDS)));
    assertThat(send(shard, late).error).isInstanceOf(InvalidInput.class).hasMessageContaining("has skipped step 0");
    assertThat(turns).isEmpty();
  }

  @Test
  void aPushIsRefused_whenItsTrainerRegistersForALaterStepWhileItIsChecked() {
    ParameterShard shard = shard(Mode.SYNC, 2, true);
    Answer<PushAck> ack = send(shard, push(0, 1, rows(1, IDS)));
    assertThat(ack.error).isNull();
    shard.register(spec(Mode.SYNC, 2, OptimizerSpec.sgd(1)), new TrainerId(0, 1), 5);
    turns.runAll();
    assertThat(ack.error).isInstanceOf(InvalidInput.class).hasMessageContaining("its next step is 5");
  }

  /** Rows of a round are counted: five slices of the check cost a little more than a turn. */
  @Test
  void aPushIsTakenIn_whenItsCheckUsesUpTheTurn() {
    int slice = 1 + TimeSlices.ROWS * (RowCheck.ID_FLOATS + 1 + TimeSlices.ROW_FLOATS);
    int slices = TimeSlices.FLOATS / slice + 1;
    ParameterShard shard = shard(Mode.SYNC, 2, true);
    send(shard, push(0, 1, rows(1, LongStream.range(0, (long) slices * TimeSlices.ROWS).toArray())));
    assertThat(shard.status("job").trainers().get(0).lastStep()).isZero();
    turns.clear();
    int uncounted = TimeSlices.FLOATS / (1 + TimeSlices.ROWS * (RowCheck.ID_FLOATS + 1)) + 1;
    ParameterShard free = shard(Mode.ASYNC, 2, true);
    Answer<PushAck> ack = send(free, push(0, 1, rows(1, LongStream.range(0, (long) uncounted * TimeSlices.ROWS).toArray())));
    assertThat(free.status("job").trainers().get(0).lastStep()).isZero();
    assertThat(free.status("job").rows()).as("applied in later turns").containsEntry(TABLES[0], 0L);
    turns.runAll();
    assertThat(ack.value).isNotNull();
  }

  /** The rows are not counted, for there is room for all; then others take so much that they have to be. */
  @Test
  void aPushIsCheckedAgain_whenTheRoomForItsRowsBecomesNarrow() {
    int rows = 20_000;
    for (boolean fits : new boolean[] {true, false}) {
      ParameterShard shard = start(new ParameterShard(0, new ShardLimits(4, 4, 64, rows + 100), TestClock.at(1), turns),
          spec(Mode.ASYNC, 2, OptimizerSpec.sgd(1)));
      Answer<PushAck> ack = send(shard, push(0, 1, rows(1, LongStream.range(0, rows).toArray())));
      assertThat(ack.value).isNull();
      long first = fits ? 0 : rows;
      Answer<Pulled> others = Answer.to(shard.pull("job",
          new Pull(1, 0, false, List.of(new SparseIds(TABLES[0], LongStream.range(first, first + 500).toArray())),
          false)));
      assertThat(others.value).isNotNull();
      turns.runAll();
      if (fits) {
        assertThat(ack.value).isEqualTo(new PushAck(1, 0, false, false));
        assertThat(values(pull(shard, 0, 1, 0, 499, 500, rows - 1))).containsOnly(-1);
      } else {
        assertThat(ack.error).isInstanceOf(Overloaded.class).hasMessageContaining("20000 new sparse rows on top of 500");
        assertThat(shard.status("job").rows()).containsEntry(TABLES[0], 500L);
      }
    }
  }

  @Test
  void aRefusedPushLeavesTheRestOfTheTurnToTheNext() {
    ParameterShard shard = shard(Mode.ASYNC, 2, true);
    long[] ids = LongStream.range(0, 10_000).toArray(); // more than a turn can look at
    long[] twice = ids.clone();
    twice[ids.length - 1] = twice[0];
    Answer<PushAck> refused = send(shard, push(0, 1, rows(1, twice)));
    send(shard, push(1, 1, rows(1, ids)));
    assertThat(refused.error).isNull();
    turns.poll().run();
    assertThat(refused.error).isInstanceOf(InvalidInput.class);
    assertThat(shard.status("job").rows().get(TABLES[0])).as("rows of the other, in the same turn").isPositive();
    turns.runAll();
  }

  @Test
  void aPushThatFailsInALaterTurnAnswersEverybodyWhoWaits() {
    ParameterShard shard = shard(Mode.ASYNC, 2, true);
    Answer<PushAck> ack = send(shard, new Push(List.of(new Contributor(0, 1, 1, 1)), 0, 0, new DenseValues() {
      @Override
      public int size() {
        return 2;
      }

      @Override
      public float[] block(int b) {
        throw new OutOfMemoryError("in the middle");
      }

      @Override
      public int nonFinite() {
        return -1;
      }
    }, List.of(rows(1, IDS))));
    Answer<Pulled> own = pull(shard, 0, 1, 5);
    Answer<PushAck> behind = send(shard, push(0, 2, rows(1, 5)));
    turns.runAll();
    for (Answer<?> answer : List.of(ack, own, behind, pull(shard, 1, 0, 5), send(shard, push(1, 1, rows(1, 5))))) {
      assertThat(answer.error).isInstanceOf(PeerLost.class).hasMessageContainingAll("push of step 0 of trainer 0",
          "in the middle");
    }
    assertThat(shard.waits()).isEmpty();
  }

  @Test
  void whoWaitsForItIsTold() {
    ParameterShard shard = shard(Mode.ASYNC, 2, true);
    send(shard, push(0, 1, rows(1, IDS)));
    pull(shard, 0, 1, 5);
    pull(shard, 1, 0, IDS);
    runUntilApplied(shard);
    assertThat(shard.waits("job")).extracting(w -> w.who() + ": " + w.operation() + " for " + w.waitsFor().get(0).name())
        .contains("trainer 0: push of step 0 for its rows to be applied",
            "trainer 0: pull of step 1 for its own push, which is being applied",
            "trainer 1: pull of step 0 for its rows, which are being gathered");
    turns.runAll();
    assertThat(shard.waits()).isEmpty();
  }

  @Test
  void moreThanSoManyAreRefused() {
    ParameterShard shard = shard(Mode.ASYNC, 2, true);
    List<Answer<PushAck>> acks = new ArrayList<>();
    for (int i = 1; i <= 5; i++) {
      acks.add(send(shard, push(0, i, rows(1, IDS))));
    }
    Answer<PushAck> other = send(shard, push(1, 1, rows(1, IDS)));
    assertThat(acks.get(4).error).isInstanceOf(Overloaded.class).hasMessageContainingAll("4 pushes", "acknowledgements");
    turns.runAll();
    assertThat(acks.subList(0, 4)).allSatisfy(a -> assertThat(a.value).isNotNull());
    assertThat(other.value).isNotNull();
    assertThat(send(shard, push(0, 5, rows(1, 5))).value).isNotNull();
  }

  @Test
  void whoLeavesHasPushedBefore() {
    for (Mode mode : List.of(Mode.SYNC, Mode.ASYNC)) {
      ParameterShard shard = shard(mode, 2, true);
      Answer<PushAck> ack = send(shard, push(0, 1, rows(1, IDS)));
      shard.leave("job", new TrainerId(0, 1));
      send(shard, push(1, 1));
      turns.runAll();
      Answer<Pulled> all = pull(shard, 1, mode == Mode.SYNC ? 1 : 0, 5);
      turns.runAll();
      assertThat(ack.error).as("%s", mode).isNull();
      assertThat(values(all)[0]).as("%s", mode).isLessThan(0);
    }
  }

  /** The pull waits for earlier pushes of its own trainer, and not for later ones. */
  @Test
  void aPullIsNotKeptByPushesThatComeBehindIt() {
    ParameterShard shard = shard(Mode.ASYNC, 1, true, 64);
    send(shard, push(0, 1, rows(1, IDS)));
    Answer<Pulled> between = pull(shard, 0, 1, 5);
    for (int i = 2; i < 10; i++) {
      send(shard, push(0, i, rows(1, IDS)));
    }
    while (between.value == null) {
      turns.poll().run();
    }
    assertThat(values(between)[0]).isBetween(-2f, -1f); // the row may lie in what has been applied of the next one
    turns.runAll();
  }

  /** The pull is begun before small pushes that came after it, though one time slice had room for all of them. */
  @Test
  void aPullIsBegunBeforePushesThatComeBehindIt() {
    ParameterShard shard = shard(Mode.ASYNC, 1, true, 64);
    send(shard, push(0, 1, rows(1, IDS)));
    Answer<Pulled> between = pull(shard, 0, 1, 5);
    for (int i = 2; i < 10; i++) {
      send(shard, push(0, i, rows(1, 5)));
    }
    turns.runAll();
    assertThat(between.value.version()).isEqualTo(1);
  }

  /** The push has come as a whole, and its rows are applied over turns. */
  @Test
  void aSnapshotTellsTheExamplesOfAPushThatIsBeingApplied() {
    ParameterShard shard = shard(Mode.ASYNC, 2, true);
    TrainerProgress told = new TrainerProgress(1, 1, 1, 32, List.of());
    Answer<PushAck> ack = send(shard,
        new Push(List.of(new Contributor(0, 1, 1, 1, told)), 0, 0, null, List.of(rows(1, IDS))));
    runUntilApplied(shard);
    assertThat(ack.value).as("not all rows are applied").isNull();
    Answer<JobSnapshot> snapshot = Answer.to(shard.snapshot("job", 0, TableSnapshot.Scope.ALL, 1 << 20));
    turns.runAll();
    assertThat(snapshot.value.whole()).isFalse();
    assertThat(snapshot.value.trainers()).extracting(SavedTrainer::progress)
        .containsExactly(TrainerProgress.NONE, TrainerProgress.NONE);
    assertThat(snapshot.value.trainers()).extracting(SavedTrainer::ahead).containsExactly(32L, 0L);
    snapshot.value.end(true);
  }

  @Test
  void aSnapshotIsWhole_unlessAPushHasBeenAppliedInPart() {
    ParameterShard shard = shard(Mode.ASYNC, 1, true);
    Answer<PushAck> first = send(shard, push(0, 1, rows(1, LongStream.range(0, 60_000).toArray())));
    Answer<PushAck> second = send(shard, push(0, 2, rows(1, 7)));
    assertThat(isWhole(shard)).as("the first is being looked through").isTrue();
    runUntilApplied(shard);
    assertThat(first.value).isNull();
    assertThat(isWhole(shard)).isFalse();
    turns.runAll();
    assertThat(second.value).isNotNull();
    assertThat(isWhole(shard)).isTrue();
  }

  private static boolean isWhole(ParameterShard shard) {
    Answer<JobSnapshot> snapshot = Answer.to(shard.snapshot("job", 0, TableSnapshot.Scope.ALL, 1 << 20));
    snapshot.value.end(true);
    return snapshot.value.whole();
  }

  /** One that needs the last of a turn leaves nothing of it to the next, which is applied in a later one. */
  @Test
  void pushesAreApplied_whereverTheTurnsOfThoseBeforeThemEnd() {
    for (int slices = 1; slices <= 12; slices++) {
      ParameterShard shard = shard(Mode.ASYNC, 2, true);
      Answer<PushAck> first = send(shard, push(0, 1, rows(1, LongStream.range(0, slices * TimeSlices.ROWS).toArray())));
      Answer<PushAck> second = send(shard, push(0, 2, rows(1, 7)));
      turns.runAll();
      assertThat(first.value).as("%d slices", slices).isNotNull();
      assertThat(second.value).as("behind %d slices", slices).isNotNull();
    }
  }

  /** The end of a push and that of another trainer's pull, each of which needs one turn and a little more. */
  @Test
  void whatPushesLeaveOfATurnGoesToOtherWork() {
    List<Integer> needed = new ArrayList<>();
    for (int slices = 1; slices <= 8; slices++) {
      ParameterShard shard = shard(Mode.ASYNC, 2, true);
      Answer<PushAck> push = send(shard, push(0, 1, rows(1, LongStream.range(0, slices * TimeSlices.ROWS).toArray())));
      Answer<Pulled> other = pull(shard, 1, 0, LongStream.range(0, TURN_ROWS + TimeSlices.ROWS).toArray());
      if (push.value == null && other.value == null) {
        needed.add(turns.runAll());
      }
    }
    assertThat(needed).as("turns for both").contains(1);
  }

  /** A push that has begun takes no place of its own: its end is never refused because there is no room. */
  @Test
  void aPushThatHasBegunCanEnd() {
    ParameterShard shard = shard(Mode.ASYNC, 1, true, 1);
    Push known = push(0, 1, rows(1, IDS));
    DenseSink sink = shard.begin("job", known, 2);
    sink.put(ByteBuffer.allocate(8));
    Answer<PushAck> ack = send(shard, known);
    turns.runAll();
    assertThat(ack.error).isNull();
    assertThat(ack.value).isNotNull();
  }

  @Test
  void geoTellsWhatHasChangedOnceItHas() {
    ParameterShard shard = shard(Mode.GEO, 2, true);
    send(shard, push(0, 1, rows(1, IDS)));
    runUntilApplied(shard);
    Answer<Pulled> some = changed(shard);
    turns.runAll();
    Answer<Pulled> rest = changed(shard);
    turns.runAll();
    assertThat(values(some)).hasSizeBetween(1, ROWS - 1).containsOnly(1);
    assertThat(values(rest)).containsOnly(1);
    long[] told = LongStream.concat(Arrays.stream(some.value.sparse().get(0).ids()),
        Arrays.stream(rest.value.sparse().get(0).ids())).sorted().toArray();
    assertThat(told).containsExactly(LongStream.range(0, ROWS).toArray());
  }

  private static Answer<Pulled> changed(ParameterShard shard) {
    return Answer.to(shard.pull("job", new Pull(1, 0, false, List.of(), true)));
  }

  /** Pushes and pulls of one trainer, with turns between them as it happens: all bits are those of one turn for each. */
  @Property(tries = 30)
  void theTurnsOfOneTrainersJobMakeNoDifference(@ForAll int seed, @ForAll Mode mode) {
    OptimizerSpec rule = mode == Mode.GEO ? OptimizerSpec.sgd(0.1) : OptimizerSpec.of("adagrad", 0.1);
    ParameterShard shard = shard(mode, 1, rule, true);
    ParameterShard whole = shard(mode, 1, rule, false);
    Random random = new Random(seed);
    List<Answer<Pulled>> seen = new ArrayList<>();
    List<Answer<Pulled>> expected = new ArrayList<>();
    for (int step = 0; step < 4; step++) {
      Push push = random(random, step);
      send(whole, push);
      send(shard, push);
      someTurns(random);
      expected.add(pull(whole, 0, step + 1, push.sparse().get(0).ids()));
      seen.add(pull(shard, 0, step + 1, push.sparse().get(0).ids()));
      someTurns(random);
      if (seen.get(step).value == null) {
        turns.runAll(); // outside of rounds a later push may come between the rows of an answer
      }
    }
    turns.runAll();
    for (int i = 0; i < seen.size(); i++) {
      assertThat(values(seen.get(i))).isEqualTo(values(expected.get(i)));
    }
    assertThat(shard.digest("job")).isEqualTo(whole.digest("job"));
    assertThat(shard.status("job")).isEqualTo(whole.status("job"));
  }

  private void someTurns(Random random) {
    for (int n = random.nextInt(4); n > 0 && !turns.isEmpty(); n--) {
      turns.poll().run();
    }
  }

  private static Push random(Random random, int step) {
    List<SparseRows> rows = new ArrayList<>();
    for (int t = 0; t < TABLES.length; t++) {
      long[] ids = random.longs(random.nextInt(2 * TURN_ROWS), 0, 4 * TURN_ROWS).distinct().toArray();
      float[] values = new float[ids.length * (t == 0 ? 1 : 3)];
      for (int i = 0; i < values.length; i++) {
        values[i] = random.nextFloat() - 0.5f;
      }
      rows.add(new SparseRows(TABLES[t], ids, values));
    }
    return new Push(List.of(new Contributor(0, 1, step + 1, 1)), step, 0,
        DenseMemory.of(new float[] {random.nextFloat(), random.nextFloat()}), rows);
  }
}
