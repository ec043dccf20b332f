package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.dense.DenseMemory;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.Overloaded;
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
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.memory.ShardMemory;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.shard.internal.job.TimeSlices;
import io.regatta.core.testing.TestClock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** A pull of more rows than fit one turn, and what can come between its turns; the oracle takes one turn. */
class PullTurnsTest {

  private static final int DIM = 3;
  /** Rows of one turn, rounded up as a turn does. */
  private static final int TURN_ROWS = TimeSlices.FLOATS / (TimeSlices.ROW_FLOATS + DIM) / TimeSlices.ROWS * TimeSlices.ROWS + TimeSlices.ROWS;
  private static final int ROWS = 2 * TURN_ROWS + 100;
  private static final String[] TABLES = {"wide", "deep"};
  private static final TrainerId ME = new TrainerId(0, 1);
  private static final long[] IDS = LongStream.range(0, ROWS).map(i -> i * i).toArray();

  private final LaterTurns turns = new LaterTurns();

  private ParameterShard shard(Mode mode, boolean inTurns) {
    OptimizerSpec sgd = OptimizerSpec.sgd(1);
    InitializerSpec uniform = InitializerSpec.uniform(-1, 1);
    JobSpec spec = new JobSpec("job", mode, 1, 0, NanPolicy.FAIL, 1, 64, new ModelSpec(7,
        List.of(new DenseVariable("w", List.of(2))), sgd,
        List.of(new SparseTableSpec(TABLES[0], DIM, uniform, sgd), new SparseTableSpec(TABLES[1], DIM, uniform, sgd))));
    ParameterShard shard =
        new ParameterShard(0, ShardLimits.defaults(), TestClock.at(1), inTurns ? turns : null);
    shard.register(spec, ME, 0);
    shard.initialize("job", ME, DenseMemory.of(new float[] {1, 2}));
    return shard;
  }

  private static Answer<Pulled> pull(ParameterShard shard, boolean readOnly, long[]... idsByTable) {
    SparseIds[] wish = new SparseIds[idsByTable.length];
    for (int i = 0; i < wish.length; i++) {
      wish[i] = new SparseIds(TABLES[i], idsByTable[i]);
    }
    return Answer.to(shard.pull("job", new Pull(0, 0, true, List.of(wish), false, readOnly)));
  }

  /** Takes one off every value of these rows. */
  private static Answer<PushAck> push(ParameterShard shard, long step, long... ids) {
    float[] ones = new float[ids.length * DIM];
    Arrays.fill(ones, 1);
    return Answer.to(shard.push("job", new Push(List.of(new Contributor(0, 1, step + 1, 1)), step, 0, null,
        List.of(new SparseRows(TABLES[0], ids, ones)))));
  }

  /** Room for the rows of one large answer and a small one. */
  private ParameterShard narrow() {
    ParameterShard shard = new ParameterShard(0, new ShardLimits(4, 4, 64, 1_000_000, 0, false,
        ShardMemory.own((ROWS + 2L) * DIM * Float.BYTES)), TestClock.at(1), turns);
    OptimizerSpec sgd = OptimizerSpec.sgd(1);
    shard.register(new JobSpec("job", Mode.ASYNC, 1, 0, NanPolicy.FAIL, 1, 64, new ModelSpec(7, List.of(), sgd,
        List.of(new SparseTableSpec(TABLES[0], DIM, InitializerSpec.zeros(), sgd)))), ME, 0);
    return shard;
  }

  private static Answer<Pulled> rowsOf(ParameterShard shard, long... ids) {
    return Answer.to(shard.pull("job", new Pull(0, 0, false, List.of(new SparseIds(TABLES[0], ids)), false)));
  }

  @Test
  void smallPullsWaitBehindALargeOne_whenThatWaitsForTheMemoryOfAnswers() {
    ParameterShard shard = narrow();
    Answer<Pulled> first = rowsOf(shard, IDS);
    Answer<Pulled> large = rowsOf(shard, IDS);
    Answer<Pulled> small = rowsOf(shard, 1, 2);
    assertThat(rowsOf(shard).value).as("takes nothing").isNotNull();
    while (first.value == null) {
      assertThat(small.value).as("with others like it, it could keep the large one out for ever").isNull();
      turns.poll().run();
    }
    turns.runAll();
    assertThat(large.value.sparse().get(0).ids()).hasSize(ROWS);
    assertThat(small.value.sparse().get(0).ids()).hasSize(2);
  }

  @Test
  void aPullWaits_whenTheAnswersBeforeItTakeTheMemoryOfAnswers() {
    ParameterShard shard = narrow();
    Answer<Pulled> first = rowsOf(shard, IDS);
    Answer<Pulled> small = rowsOf(shard, 1, 2);
    Answer<Pulled> second = rowsOf(shard, IDS);
    Answer<Pulled> none = rowsOf(shard);
    assertThat(small.value).as("fits beside the first").isNotNull();
    assertThat(none.value).isNotNull();
    assertThat(shard.waits()).anySatisfy(w -> assertThat(w.waitsFor()).extracting(Wait.Peer::name)
        .containsExactly("other pulls, whose answers take all the memory that answers may"));
    while (first.value == null) {
      assertThat(second.value).isNull();
      turns.poll().run();
    }
    turns.runAll();
    assertThat(second.value.sparse().get(0).ids()).hasSize(ROWS);
  }

  @Test
  void aWithdrawnPullLeavesItsRoomToTheNext() {
    ParameterShard shard = narrow();
    Answer<Pulled> first = rowsOf(shard, IDS);
    Answer<Pulled> second = rowsOf(shard, IDS);
    shard.withdraw("job", first.request);
    turns.runAll();
    assertThat(first.value).isNull();
    assertThat(second.value.sparse().get(0).ids()).hasSize(ROWS);
  }

  @Test
  void aPullIsRefused_whenItsAnswerCanNeverHaveRoom() {
    ParameterShard shard = narrow();
    long[] tooMany = LongStream.range(0, ROWS + 3).toArray();
    assertThat(rowsOf(shard, tooMany).error).isInstanceOf(Overloaded.class).hasMessageContaining("no room");
    assertThat(rowsOf(shard, Arrays.copyOf(tooMany, ROWS + 2)).error).isNull();
    assertThat(shard.status("job").rows().get(TABLES[0])).isLessThanOrEqualTo(ROWS + 2);
  }

  @Test
  void itsAnswerIsThatOfOneTurn() {
    for (boolean readOnly : new boolean[] {false, true}) {
      ParameterShard shard = shard(Mode.ASYNC, true);
      ParameterShard whole = shard(Mode.ASYNC, false);
      long[] few = {5, 3};
      Answer<Pulled> answer = pull(shard, readOnly, IDS, few);
      assertThat(answer.value).isNull();
      assertThat(turns.runAll()).isEqualTo(2);
      Pulled expected = pull(whole, readOnly, IDS, few).value;
      for (int t = 0; t < 2; t++) {
        assertThat(answer.value.sparse().get(t).ids()).containsExactly(expected.sparse().get(t).ids());
        assertThat(answer.value.sparse().get(t).values()).containsExactly(expected.sparse().get(t).values());
      }
      assertThat(answer.value.dense().toArray()).containsExactly(1, 2);
      assertThat(shard.status("job").rows()).isEqualTo(whole.status("job").rows());
    }
  }

  @Test
  void smallerPullsOvertakeItAndLargeOnesTakeTurns() {
    ParameterShard shard = shard(Mode.ASYNC, true);
    Answer<Pulled> first = pull(shard, false, IDS);
    Answer<Pulled> second = pull(shard, false, IDS);
    assertThat(pull(shard, false, new long[] {1, 2}).value).isNotNull();
    assertThat(turns).hasSize(1);
    turns.poll().run();
    turns.poll().run();
    assertThat(first.value).isNull();
    assertThat(second.value).isNull();
    turns.poll().run();
    assertThat(first.value).isNotNull();
    turns.runAll();
    assertThat(second.value.sparse().get(0).values()).containsExactly(first.value.sparse().get(0).values());
  }

  @Test
  void outsideOfRoundsAPushBetweenItsTurnsIsAppliedAndTheVersionIsTheOlderOne() {
    ParameterShard shard = shard(Mode.ASYNC, true);
    float[] born = pull(shard, true, new long[] {IDS[0], IDS[ROWS - 1]}).value.sparse().get(0).values();
    Answer<Pulled> answer = pull(shard, false, IDS);
    assertThat(push(shard, 0, IDS[0], IDS[ROWS - 1]).value).isNotNull();
    turns.runAll();
    float[] values = answer.value.sparse().get(0).values();
    assertThat(values[0]).as("gathered before").isEqualTo(born[0]);
    assertThat(values[(ROWS - 1) * DIM]).as("gathered behind").isEqualTo(born[DIM] - 1);
    assertThat(answer.value.version()).isZero();
  }

  @Test
  void noRoundClosesBetweenItsTurns() {
    ParameterShard shard = shard(Mode.SYNC, true);
    Answer<Pulled> answer = pull(shard, true, IDS);
    Answer<PushAck> round = push(shard, 0, 5);
    assertThat(round.value).isNull();
    assertThat(shard.waits()).filteredOn(w -> w.operation().startsWith("push"))
        .extracting(w -> w.waitsFor().get(0).name()).containsExactly("pulls that are being answered, or the round before");
    turns.runAll();
    assertThat(round.value).isNotNull();
    float[] born = pull(shard(Mode.SYNC, false), true, IDS).value.sparse().get(0).values();
    assertThat(answer.value.sparse().get(0).values()).containsExactly(born);
  }

  @Test
  void whoLeavesGetsNoMoreOfIt() {
    ParameterShard shard = shard(Mode.ASYNC, true);
    Answer<Pulled> answer = pull(shard, false, IDS);
    shard.leave("job", ME);
    assertThat(answer.error).isInstanceOf(Cancelled.class);
    turns.runAll();
    assertThat(answer.value).isNull();
  }

  @Test
  void whatIsTakenBackHoldsNoRound() {
    ParameterShard shard = shard(Mode.SYNC, true);
    Answer<Pulled> answer = pull(shard, true, IDS);
    Answer<PushAck> round = push(shard, 0, IDS[0]);
    shard.withdraw("job", answer.request);
    turns.runAll();
    assertThat(answer.value).isNull();
    assertThat(answer.error).isNull();
    assertThat(round.value).isNotNull();
  }

  @Test
  void pullsThatARoundReleasesShareOneTurnsRows() {
    ParameterShard shard = shard(Mode.SYNC, true);
    List<Answer<Pulled>> parked = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      parked.add(pullOf(shard, 1, LongStream.range(i * 8000, (i + 1) * 8000).toArray()));
    }
    push(shard, 0, 5);
    long before = rows(shard);
    assertThat(before).as("in the turn of the push").isLessThanOrEqualTo(TURN_ROWS + TimeSlices.ROWS);
    int answered = answered(parked);
    while (!turns.isEmpty()) {
      assertThat(turns).hasSize(1);
      turns.poll().run();
      assertThat(rows(shard) - before).isLessThanOrEqualTo(TURN_ROWS + TimeSlices.ROWS);
      assertThat(answered(parked)).isGreaterThanOrEqualTo(answered);
      assertThat(parked.subList(0, answered(parked))).allSatisfy(a -> assertThat(a.value).isNotNull());
      before = rows(shard);
      answered = answered(parked);
    }
    assertThat(answered).isEqualTo(4);
  }

  @Test
  void readersThatComeLaterWaitForACompleteRound() {
    ParameterShard shard = shard(Mode.SYNC, true);
    Answer<Pulled> before = pull(shard, true, IDS);
    Answer<PushAck> round = push(shard, 0, IDS[0]);
    List<Answer<Pulled>> later = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      later.add(pull(shard, true, IDS));
      turns.poll().run();
    }
    assertThat(before.value.version()).isZero();
    assertThat(round.value).isNotNull();
    turns.runAll();
    assertThat(later).allSatisfy(a -> assertThat(a.value.version()).isEqualTo(1));
  }

  @Test
  void roundsThatAreCompleteLetReadersInBetween() {
    ParameterShard shard = shard(Mode.SYNC, true);
    pull(shard, true, IDS);
    Answer<PushAck> first = push(shard, 0, IDS[0]);
    Answer<PushAck> second = push(shard, 1, IDS[0]);
    Answer<Pulled> reader = pull(shard, true, IDS);
    turns.runAll();
    assertThat(first.value.version()).isEqualTo(1);
    assertThat(reader.value.version()).isEqualTo(1);
    assertThat(second.value.version()).isEqualTo(2);
  }

  private static Answer<Pulled> pullOf(ParameterShard shard, long step, long[] ids) {
    return Answer.to(shard.pull("job", new Pull(0, step, true, List.of(new SparseIds(TABLES[0], ids)), false)));
  }

  private static long rows(ParameterShard shard) {
    return shard.status("job").rows().get(TABLES[0]);
  }

  private static int answered(List<Answer<Pulled>> answers) {
    return (int) answers.stream().filter(a -> a.value != null).count();
  }
}
