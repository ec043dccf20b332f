package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
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
import io.regatta.core.memory.HeapBudget;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.memory.ShardMemory;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.testing.TestClock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Pulls that wait for room for their answers: in which order they get it, what waits say, and what they give back. */
class AnswerRoomTest {

  private static final String OTHERS = "other pulls, whose answers take all the memory that answers may";
  private static final int LIMIT = 40;

  private final LaterTurns turns = new LaterTurns();
  private final HeapBudget answers = new HeapBudget(LIMIT);
  private final List<String> order = new ArrayList<>();

  private ParameterShard shard(Mode mode, HeapBudget budget, int pulls, long rows, int dim) {
    ModelSpec model = new ModelSpec(7, List.of(), OptimizerSpec.sgd(1),
        List.of(new SparseTableSpec("t", dim, InitializerSpec.zeros(), OptimizerSpec.sgd(1))));
    ParameterShard shard = new ParameterShard(0, new ShardLimits(1, 4, pulls, rows, 0, false,
        new ShardMemory(new HeapBudget(Long.MAX_VALUE), budget)), TestClock.at(1), turns);
    for (int rank = 0; rank < 3; rank++) {
      shard.register(new JobSpec("job", mode, 3, 0, NanPolicy.FAIL, 1, 64, model), new TrainerId(rank, 1), 0);
    }
    return shard;
  }

  private ParameterShard shard(Mode mode) {
    return shard(mode, answers, 4, 1000, 1);
  }

  private static long[] ids(int n) {
    return LongStream.range(0, n).toArray();
  }

  private Answer<Pulled> pull(ParameterShard shard, int rank, boolean changed, int rows) {
    List<SparseIds> wish = rows == 0 ? List.of() : List.of(new SparseIds("t", ids(rows)));
    CompletionStage<Pulled> request = shard.pull("job", new Pull(rank, 0, false, wish, changed));
    request.whenComplete((pulled, error) -> order.add(rank + (error == null ? "" : " refused")));
    return Answer.to(request);
  }

  private void push(ParameterShard shard, int rank, long sequence, int rows) {
    Answer<PushAck> ack =
        Answer.to(shard.push("job", new Push(List.of(new Contributor(rank, 1, sequence, 1)), sequence - 1, 0, null,
        List.of(new SparseRows("t", ids(rows), new float[rows])))));
    turns.runAll();
    assertThat(ack.value).isNotNull();
  }

  private static List<String> waitsFor(ParameterShard shard, int rank) {
    return shard.waits().stream().filter(w -> w.who().equals("trainer " + rank)).flatMap(w -> w.waitsFor().stream())
        .map(Wait.Peer::name).toList();
  }

  @Test
  void smallPullsDoNotOvertakeALargeOneThatWaitsForRoom() {
    ParameterShard shard = shard(Mode.ASYNC);
    answers.add(8);
    Answer<Pulled> large = pull(shard, 0, false, 9);
    Answer<Pulled> small = pull(shard, 1, false, 1);
    Answer<Pulled> none = pull(shard, 2, false, 0);
    assertThat(none.value).as("an answer without rows needs no room").isNotNull();
    assertThat(waitsFor(shard, 0)).containsExactly(OTHERS);
    assertThat(waitsFor(shard, 1)).as("32 bytes are free").containsExactly(OTHERS);
    answers.giveBack(4);
    assertThat(large.value).as("woken in a turn of its own").isNull();
    turns.runAll();
    assertThat(large.value).isNotNull();
    assertThat(small.value).isNotNull();
    assertThat(order).containsExactly("2", "0", "1");
    assertThat(answers.taken()).isEqualTo(4);
    assertThat(shard.waits()).isEmpty();
  }

  @Test
  void oneThatStillHasNoRoomKeepsWhatComesBehindIt_whenLessComesFreeThanItNeeds() {
    ParameterShard shard = shard(Mode.ASYNC);
    answers.add(30);
    Answer<Pulled> large = pull(shard, 0, false, 10);
    answers.giveBack(20);
    turns.runAll();
    Answer<Pulled> small = pull(shard, 1, false, 1);
    turns.runAll();
    assertThat(large.value).isNull();
    assertThat(small.value).isNull();
    answers.giveBack(10);
    turns.runAll();
    assertThat(order).containsExactly("0", "1");
  }

  @Test
  void pullsThatWaitForTrainersSaySo_unlessThereIsNoRoomForThem() {
    ParameterShard shard = shard(Mode.SYNC);
    shard.pull("job", new Pull(0, 1, false, List.of(new SparseIds("t", ids(10))), false));
    assertThat(waitsFor(shard, 0)).as("40 bytes are free").contains("trainer 1", "trainer 2").doesNotContain(OTHERS);
    answers.add(LIMIT);
    pull(shard, 1, false, 1);
    shard.pull("job", new Pull(2, 1, false, List.of(), false));
    assertThat(waitsFor(shard, 0)).containsExactly(OTHERS);
    assertThat(waitsFor(shard, 1)).containsExactly(OTHERS);
    assertThat(waitsFor(shard, 2)).as("without rows").contains("trainer 0", "trainer 1").doesNotContain(OTHERS);
  }

  @Test
  void refusesAPullWhoseRowsNeverHaveRoom() {
    ParameterShard shard = shard(Mode.ASYNC);
    assertThat(pull(shard, 0, false, 11).error).isInstanceOf(Overloaded.class).hasMessageContainingAll(
        "pull of step 0 of trainer 0 refused", "no room for the 44 bytes", "shard 0 of job job", "may take 40", "-Xmx");
    assertThat(pull(shard, 0, false, 10).value).isNotNull();
    assertThat(answers.taken()).isZero();
  }

  /** 32,768 rows of 65,536 floats are 8 more than an array holds. */
  @Test
  void refusesAPullOfMoreFloatsThanAnArrayHolds() {
    ParameterShard shard = shard(Mode.ASYNC, answers, 4, 1000, 65_536);
    assertThat(pull(shard, 0, false, 32_768).error).isInstanceOf(Overloaded.class)
        .hasMessageContainingAll("pull of step 0 of trainer 0 refused at shard 0 of job job", "32768 rows of table 't'",
            "2147483648 floats", "pull less at a time");
    assertThat(pull(shard, 0, false, 32_767).error).hasMessageContaining("no room for the 8589672448 bytes");
  }

  @Test
  void givesItsRoomBack_whenItsRowsAreRefused() {
    ParameterShard shard = shard(Mode.ASYNC, answers, 4, 5, 1);
    assertThat(pull(shard, 0, false, 6).error).isInstanceOf(Overloaded.class).hasMessageContaining("6 new sparse rows");
    assertThat(answers.taken()).isZero();
  }

  /** Rows that have changed, with their ids, take 12 bytes each. */
  @Test
  void answersOfChangesThatWaitForRoomGetItInTheirOrder() {
    ParameterShard shard = shard(Mode.GEO);
    push(shard, 2, 1, 3);
    answers.add(5);
    Answer<Pulled> first = pull(shard, 0, true, 0);
    Answer<Pulled> second = pull(shard, 1, true, 0);
    turns.runAll();
    assertThat(first.value).as("there is no room for 36 bytes").isNull();
    assertThat(waitsFor(shard, 0)).containsExactly(OTHERS);
    assertThat(waitsFor(shard, 1)).containsExactly(OTHERS);
    Answer<Pulled> small = pull(shard, 2, false, 1);
    turns.runAll();
    assertThat(small.value).as("nothing is behind an answer that waits, until somebody looks").isNotNull();
    answers.giveBack(2);
    turns.runAll();
    assertThat(order).as("4 bytes, then those of both, one after the other").containsExactly("2", "0", "1");
    assertThat(first.value.sparse()).extracting(SparseRows::ids).containsExactly(ids(3));
    assertThat(second.value.sparse()).extracting(SparseRows::ids).containsExactly(ids(3));
    assertThat(answers.taken()).isEqualTo(3);
    assertThat(shard.waits()).isEmpty();
  }

  @Test
  void parkedPullsKeepBehindChangesThatStillHaveNoRoom() {
    ParameterShard shard = shard(Mode.GEO);
    push(shard, 2, 1, 3);
    answers.add(20);
    pull(shard, 0, true, 0);
    turns.runAll();
    pull(shard, 1, false, 10);
    answers.giveBack(10);
    turns.runAll();
    assertThat(order).isEmpty();
    pull(shard, 2, false, 1);
    assertThat(order).as("30 bytes are free").isEmpty();
    answers.giveBack(10);
    turns.runAll();
    assertThat(order).containsExactly("0", "1", "2");
    assertThat(answers.taken()).isZero();
  }

  @Test
  void anAnswerThatWaitsForRoomCountsAsAnOpenOne() {
    ParameterShard shard = shard(Mode.GEO, answers, 2, 1000, 1);
    push(shard, 2, 1, 3);
    answers.add(20);
    pull(shard, 0, true, 0);
    turns.runAll();
    pull(shard, 1, false, 10);
    assertThat(pull(shard, 2, false, 1).error).isInstanceOf(Overloaded.class).hasMessageContaining("2 pulls wait");
  }

  @Test
  void anAnswerThatWaitsForRoomFailsWithItsTrainer() {
    ParameterShard shard = shard(Mode.GEO);
    push(shard, 2, 1, 3);
    answers.add(20);
    Answer<Pulled> lost = pull(shard, 0, true, 1);
    turns.runAll();
    assertThat(lost.error).isNull();
    shard.lost("job", new TrainerId(0, 1));
    assertThat(lost.error).isInstanceOf(PeerLost.class)
        .hasMessageContaining("pull of step 0 of trainer 0 at shard 0 of job job");
    answers.giveBack(20);
    turns.runAll();
    assertThat(shard.waits()).isEmpty();
    assertThat(answers.taken()).isZero();
    assertThat(order).hasSize(1);
  }

  @Test
  void pullsThatWaitAreRefused_whenParametersHaveTakenTheirRoomForEver() {
    ParameterShard shard = shard(Mode.GEO, HeapBudget.ANSWERS, 4, 1000, 1);
    push(shard, 2, 1, 3);
    long other = HeapBudget.ANSWERS.limit();
    HeapBudget.ANSWERS.add(other);
    Answer<Pulled> rows = pull(shard, 0, false, 3);
    Answer<Pulled> changes = pull(shard, 1, true, 0);
    turns.runAll();
    assertThat(order).isEmpty();
    long parameters = HeapBudget.PARAMETERS.limit() + Runtime.getRuntime().maxMemory() / 4;
    HeapBudget.PARAMETERS.add(parameters);
    try {
      HeapBudget.ANSWERS.giveBack(other);
      turns.runAll();
      assertThat(rows.error).isInstanceOf(Overloaded.class).hasMessageContaining("no room for the 12 bytes");
      assertThat(changes.error).isInstanceOf(Overloaded.class).hasMessageContaining("no room for the 36 bytes");
      assertThat(HeapBudget.ANSWERS.taken()).isZero();
      assertThat(shard.waits()).isEmpty();
    } finally {
      HeapBudget.PARAMETERS.giveBack(parameters);
    }
  }
}
