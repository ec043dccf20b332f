package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.dense.DenseMemory;
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
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.memory.HeapBudget;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.memory.ShardMemory;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.testing.TestClock;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Tests of the memory that a shard takes of the heap's budgets, refuses beyond them, and gives back. */
class ShardMemoryTest {

  private static final int ROW_BYTES = 4 * (1 + 2) + 10;

  private final LaterTurns turns = new LaterTurns();

  private static JobSpec job(Mode mode, int trainers, int dense, int dim, OptimizerSpec optimizer) {
    return new JobSpec("job", mode, trainers, 0, NanPolicy.FAIL, 1, 64, new ModelSpec(7,
        dense == 0 ? List.of() : List.of(new DenseVariable("w", List.of(dense))), optimizer,
        List.of(new SparseTableSpec("t", dim, InitializerSpec.zeros(), OptimizerSpec.sgd(1)))));
  }

  private ParameterShard shard(HeapBudget parameters, HeapBudget answers) {
    return new ParameterShard(0, new ShardLimits(1, 4, 64, 1_000_000, 0, false,
        new ShardMemory(parameters, answers)), TestClock.at(1), turns);
  }

  private static Answer<Pulled> pull(ParameterShard shard, int rank, boolean changed, long... ids) {
    return Answer.to(shard.pull("job", new Pull(rank, 0, false, List.of(new SparseIds("t", ids)), changed)));
  }

  private static Answer<PushAck> push(ParameterShard shard, int rank, long sequence, long... ids) {
    return Answer.to(shard.push("job", new Push(List.of(new Contributor(rank, 1, sequence, 1)), 0, 0, null,
        List.of(new SparseRows("t", ids, new float[ids.length])))));
  }

  @Test
  void refusesADenseVectorThatHasNoRoom_beforeItIsAllocated() {
    HeapBudget parameters = new HeapBudget(1199);
    ParameterShard shard = shard(parameters, new HeapBudget(100));
    JobSpec adam = job(Mode.ASYNC, 1, 100, 1, OptimizerSpec.of("adam", 0.1));
    assertThatThrownBy(() -> shard.register(adam, new TrainerId(0, 1), 0)).isInstanceOf(Overloaded.class)
        .hasMessageContainingAll("shard 0 of job job", "100 elements with 2 optimizer slots", "1200 bytes", "1199 of 1199", "-Xmx");
    assertThat(parameters.taken()).isZero();
    assertThat(shard.jobs()).isEmpty();
    shard.register(job(Mode.ASYNC, 1, 100, 1, OptimizerSpec.sgd(0.1)), new TrainerId(0, 1), 0);
    assertThat(parameters.taken()).isEqualTo(400);
    shard.leave("job", new TrainerId(0, 1));
    assertThat(parameters.taken()).isZero();
  }

  @Test
  void refusesATableOfWhichNoRowHasRoom() {
    ParameterShard shard = shard(new HeapBudget(1000), new HeapBudget(1000));
    assertThatThrownBy(() -> shard.register(job(Mode.ASYNC, 1, 0, 300, OptimizerSpec.sgd(1)), new TrainerId(0, 1), 0))
        .isInstanceOf(Overloaded.class).hasMessageContainingAll("table 't'", "300 floats", "1218 bytes", "-Xmx");
    ParameterShard roomy = shard(new HeapBudget(1218), new HeapBudget(1000));
    roomy.register(job(Mode.ASYNC, 1, 0, 300, OptimizerSpec.sgd(1)), new TrainerId(0, 1), 0);
    assertThat(roomy.jobs()).as("for one row").hasSize(1);
  }

  @Test
  void refusesRowsThatHaveNoRoom_andGivesThatOfAllBack_whenTheJobHasEnded() {
    HeapBudget parameters = new HeapBudget(10 * ROW_BYTES);
    ParameterShard shard = shard(parameters, new HeapBudget(1000));
    shard.register(job(Mode.ASYNC, 1, 0, 1, OptimizerSpec.sgd(1)), new TrainerId(0, 1), 0);
    assertThat(pull(shard, 0, false, LongStream.range(0, 8).toArray()).error).isNull();
    assertThat(pull(shard, 0, false, 10, 11, 12).error).isInstanceOf(Overloaded.class)
        .hasMessageContainingAll("3 new sparse rows", "shard 0 of job job", 2 * ROW_BYTES + " of " + 10 * ROW_BYTES, "-Xmx");
    assertThat(push(shard, 0, 1, 0, 10, 11).error).as("two of them are new").isNull();
    assertThat(push(shard, 0, 2, 12).error).isInstanceOf(Overloaded.class);
    assertThat(pull(shard, 0, false, 0, 11).error).isNull();
    assertThat(parameters.taken()).isEqualTo(10 * ROW_BYTES);
    shard.close();
    assertThat(parameters.taken()).isZero();
    shard.leave("job", new TrainerId(0, 1));
    assertThat(parameters.taken()).isZero();
  }

  /** The rows that an open round will create have been let in, and others take their room meanwhile. */
  @Test
  void requestsThatCreateNoRowsPass_whenThereIsLessThanNoRoom() {
    HeapBudget parameters = new HeapBudget(10 * ROW_BYTES);
    ParameterShard shard = shard(parameters, new HeapBudget(1000));
    shard.register(job(Mode.SYNC, 2, 0, 1, OptimizerSpec.sgd(1)), new TrainerId(0, 1), 0);
    shard.register(job(Mode.SYNC, 2, 0, 1, OptimizerSpec.sgd(1)), new TrainerId(1, 1), 0);
    assertThat(pull(shard, 0, false, 1, 2, 3).value).isNotNull();
    Answer<PushAck> creates = push(shard, 0, 1, 10, 11);
    parameters.add(7 * ROW_BYTES);
    assertThat(push(shard, 1, 1, 1, 12).error).isInstanceOf(Overloaded.class);
    assertThat(pull(shard, 1, false, 1, 2).value).isNotNull();
    Answer<PushAck> none = push(shard, 1, 2, 1, 2);
    turns.runAll();
    assertThat(none.value).isNotNull();
    assertThat(creates.value).isNotNull();
  }

  @Test
  void answersAPullThatHadNoRoom_whenWhoeverSendsAnotherAnswerGivesItBack() {
    HeapBudget answers = new HeapBudget(40);
    ParameterShard shard = shard(new HeapBudget(10_000), answers);
    shard.register(job(Mode.ASYNC, 1, 0, 1, OptimizerSpec.sgd(1)), new TrainerId(0, 1), 0);
    answers.add(36);
    Answer<Pulled> waits = pull(shard, 0, false, 1, 2);
    turns.runAll();
    assertThat(waits.value).isNull();
    answers.giveBack(36);
    turns.runAll();
    assertThat(waits.value.sparse().get(0).ids()).containsExactly(1, 2);
    assertThat(answers.taken()).as("whoever sends it counts it").isZero();
  }

  @Test
  void rowsOfAnAnswerCount_untilWhoeverSendsThemHasTakenThem() {
    HeapBudget answers = new HeapBudget(40);
    ParameterShard shard = shard(new HeapBudget(10_000), answers);
    shard.register(job(Mode.ASYNC, 1, 0, 1, OptimizerSpec.sgd(1)), new TrainerId(0, 1), 0);
    long[] takenThen = {-1};
    Pull two = new Pull(0, 0, false, List.of(new SparseIds("t", new long[] {1, 2})), false);
    answers.add(40);
    shard.pull("job", two).whenComplete((pulled, error) -> {
      takenThen[0] = answers.taken();
      throw new IllegalStateException("they cannot be sent");
    });
    answers.giveBack(40);
    turns.runAll();
    assertThat(takenThen[0]).as("while they are being taken").isEqualTo(8);
    assertThat(answers.taken()).isZero();
  }

  @Test
  void changedRowsOfGeoCountAsOthersDo() {
    HeapBudget answers = new HeapBudget(100);
    ParameterShard shard = shard(new HeapBudget(10_000), answers);
    shard.register(job(Mode.GEO, 2, 0, 1, OptimizerSpec.sgd(1)), new TrainerId(0, 1), 0);
    shard.register(job(Mode.GEO, 2, 0, 1, OptimizerSpec.sgd(1)), new TrainerId(1, 1), 0);
    assertThat(push(shard, 1, 1, 1, 2, 3, 4, 5).value).isNotNull();
    turns.runAll();
    answers.add(50);
    Answer<Pulled> waits = pull(shard, 0, true);
    turns.runAll();
    assertThat(waits.value).as("5 rows and ids take 60 bytes").isNull();
    assertThat(shard.waits()).isNotEmpty();
    answers.giveBack(10);
    turns.runAll();
    assertThat(waits.value.sparse().get(1).ids()).containsExactlyInAnyOrder(1, 2, 3, 4, 5);
    assertThat(answers.taken()).isEqualTo(40);
    assertThat(push(shard, 1, 2, LongStream.range(0, 9).toArray()).value).isNotNull();
    turns.runAll();
    Answer<Pulled> never = pull(shard, 0, true);
    turns.runAll();
    assertThat(never.error).isInstanceOf(Overloaded.class).hasMessageContainingAll("pull of step 0 of trainer 0", "108 bytes",
        "shard 0 of job job", "may take 100");
    assertThat(answers.taken()).isEqualTo(40);
  }

  @Test
  void aPullThatWaitsForRoomCanBeWithdrawn() {
    HeapBudget answers = new HeapBudget(60);
    ParameterShard shard = shard(new HeapBudget(10_000), answers);
    shard.register(job(Mode.GEO, 2, 0, 1, OptimizerSpec.sgd(1)), new TrainerId(0, 1), 0);
    shard.register(job(Mode.GEO, 2, 0, 1, OptimizerSpec.sgd(1)), new TrainerId(1, 1), 0);
    push(shard, 1, 1, 1, 2, 3, 4, 5);
    turns.runAll();
    answers.add(50);
    Answer<Pulled> waits = pull(shard, 0, true);
    turns.runAll();
    shard.withdraw("job", waits.request);
    answers.giveBack(50);
    turns.runAll();
    assertThat(waits.value).isNull();
    assertThat(answers.taken()).isZero();
  }

  @Test
  void knowsARepeatedPushByItsHeader() {
    ParameterShard shard = shard(new HeapBudget(10_000), new HeapBudget(100));
    shard.register(job(Mode.SYNC, 2, 1, 1, OptimizerSpec.sgd(1)), new TrainerId(0, 1), 0);
    shard.register(job(Mode.SYNC, 2, 1, 1, OptimizerSpec.sgd(1)), new TrainerId(1, 1), 0);
    shard.initialize("job", new TrainerId(0, 1), DenseMemory.of(new float[1]));
    Push header = new Push(List.of(new Contributor(0, 1, 5, 1)), 0, 0, null, List.of());
    assertThat(shard.isRepeated("job", header)).isFalse();
    Answer<PushAck> first = push(shard, 0, 5, 1);
    turns.runAll();
    assertThat(first.value).as("its round is open").isNull();
    assertThat(shard.isRepeated("job", header)).isTrue();
    assertThat(shard.isRepeated("another", header)).isFalse();
  }

  @Test
  void budgetsOfAProcessShareItsHeap() {
    HeapBudget requests = HeapBudget.REQUESTS;
    long before = HeapBudget.PARAMETERS.free();
    long half = requests.free();
    assertThat(requests.take(half)).isTrue();
    assertThat(HeapBudget.PARAMETERS.free()).isLessThan(before);
    requests.giveBack(half);
    assertThat(HeapBudget.PARAMETERS.take(before)).isTrue();
    assertThat(requests.take(1000)).as("parameters leave room for requests").isTrue();
    requests.giveBack(1000);
    HeapBudget.PARAMETERS.add(2 * half);
    try {
      assertThat(requests.take(1)).isFalse();
      assertThat(requests.take(0)).as("what takes nothing is not refused").isTrue();
      assertThat(requests.most()).isZero();
    } finally {
      HeapBudget.PARAMETERS.giveBack(before + 2 * half);
    }
    assertThat(HeapBudget.PARAMETERS.free()).isEqualTo(before);
  }

  @Test
  void answersOneAtATime_whileRequestsThatWaitForItHoldTheHeap() {
    HeapBudget.REQUESTS.add(Runtime.getRuntime().maxMemory());
    ParameterShard shard = shard(new HeapBudget(10_000), HeapBudget.ANSWERS);
    try {
      shard.register(job(Mode.SYNC, 2, 0, 1, OptimizerSpec.sgd(1)), new TrainerId(0, 1), 0);
      shard.register(job(Mode.SYNC, 2, 0, 1, OptimizerSpec.sgd(1)), new TrainerId(1, 1), 0);
      HeapBudget.ANSWERS.add(1); // another answer
      Answer<Pulled> slow = pull(shard, 1, false, 1, 2);
      turns.runAll();
      assertThat(slow.value).isNull();
      HeapBudget.ANSWERS.giveBack(1);
      turns.runAll();
      assertThat(slow.value.sparse().get(0).ids()).as("its push is what the requests wait for").containsExactly(1, 2);
    } finally {
      HeapBudget.REQUESTS.giveBack(Runtime.getRuntime().maxMemory());
    }
    assertThat(HeapBudget.ANSWERS.taken()).isZero();
  }

  @Test
  void wakesAllWhoWait_whenTheLoopOfOneHasEnded() {
    HeapBudget budget = new HeapBudget(10);
    int[] woken = new int[1];
    budget.add(10);
    for (int i = 0; i < 8; i++) {
      int each = i;
      budget.whenFree(() -> {
        woken[0] += each > 0 ? 1 : 8;
        throw new RejectedExecutionException("closed");
      });
    }
    budget.giveBack(10);
    assertThat(woken[0]).isEqualTo(15);
  }
}
