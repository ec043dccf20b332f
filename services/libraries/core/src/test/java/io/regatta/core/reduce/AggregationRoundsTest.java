package io.regatta.core.reduce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.dense.DenseMemory;
import io.regatta.core.dense.DenseValues;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.Indeterminate;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.error.RegattaException;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.memory.HeapBudget;
import io.regatta.core.testing.TestClock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Stories of the rounds towards one shard, whose end the test holds. */
class AggregationRoundsTest {
  private long nowMillis = 1000;
  private final RecordingShard shard = new RecordingShard();
  private final AggregationRounds rounds = new AggregationRounds("census", 0, new AggregationRounds.Limits(2, 100),
      shard, TestClock.of(() -> nowMillis));

  private void register(int... ranks) {
    for (int rank : ranks) {
      rounds.register(id(rank));
    }
  }

  private static TrainerId id(int rank) {
    return new TrainerId(rank, 10 + rank);
  }

  private static Push push(int rank, long step, double weight, float... dense) {
    return new Push(List.of(new Contributor(rank, 10 + rank, step + 1, weight)), step, 0, DenseMemory.of(dense), List.of());
  }

  private Answers give(int rank, long step) {
    return give(push(rank, step, 1, rank));
  }

  private Answers give(Push push) {
    return Answers.to(rounds.push(push));
  }

  @Test
  void whenARoundIsComplete_thenItIsKnownHowLongItWaitedForWhom() {
    register(0, 1);
    give(0, 5);
    nowMillis += 700;
    assertThat(rounds.waitMillis()).as("not yet").isEmpty();
    give(1, 5);
    give(1, 6);
    nowMillis += 40;
    give(0, 6);
    assertThat(rounds.waitMillis()).containsEntry(0, 40L).containsEntry(1, 700L);
  }

  @ParameterizedTest
  @CsvSource({"0,1,2", "0,2,1", "1,0,2", "1,2,0", "2,0,1", "2,1,0"})
  void whenAllHavePushedInAnyOrder_thenTheirWeightedMeanGoesOnInRankOrder(int first, int second, int third) {
    register(0, 1, 2);
    float[] gradients = {0.1f, 0.7f, 1e7f};
    double[] weights = {3, 1, 4};
    for (int rank : new int[] {first, second, third}) {
      assertThat(shard.pushes).isEmpty();
      give(push(rank, 5, weights[rank], gradients[rank]));
    }
    float expected = (float) (3 / 8.0) * 0.1f;
    expected += (float) (1 / 8.0) * 0.7f;
    expected += (float) (4 / 8.0) * 1e7f;
    assertThat(shard.pushes).hasSize(1);
    assertThat(shard.pushes.get(0).dense().toArray()).containsExactly(expected);
    assertThat(shard.pushes.get(0).step()).isEqualTo(5);
    assertThat(shard.pushes.get(0).contributors()).containsExactly(new Contributor(0, 10, 6, 3),
        new Contributor(1, 11, 6, 1), new Contributor(2, 12, 6, 4));
  }

  @Test
  void whenTheShardAcknowledges_thenAndOnlyThenEveryContributorIsAcknowledged() {
    register(0, 1);
    Answers zero = give(0, 0);
    Answers one = give(1, 0);
    assertThat(zero.isDone() || one.isDone()).isFalse();
    assertThat(rounds.bytes()).isEqualTo(8);
    assertThat(shard.acknowledge(0)).isSameAs(zero.ack).isSameAs(one.ack);
    assertThat(rounds.bytes()).isZero();
  }

  @Test
  void whenTheShardRefuses_thenEveryContributorGetsTheSameError() {
    register(0, 1);
    Answers zero = give(0, 0);
    Answers one = give(1, 0);
    RegattaException refusal = new InvalidInput("push of step 0 of trainer 0, 1 has 7 dense elements");
    shard.refuse(0, refusal);
    assertThat(zero.error).isSameAs(refusal).isSameAs(one.error);
    Answers next = give(0, 1);
    give(1, 1);
    shard.acknowledge(1);
    assertThat(next.ack).isNotNull();
  }

  @Test
  void whenATrainerLeaves_thenItIsWaitedForNoLongerButWhatItPushedCounts() {
    register(0, 1, 2);
    Answers zero = give(0, 0);
    Answers two = give(2, 0);
    CompletionStage<Void> answered = rounds.leave(id(0));
    assertThat(shard.pushes).isEmpty();
    rounds.leave(id(1));
    assertThat(shard.ranks(0)).containsExactly(0, 2);
    assertThat(answered).isNotDone();
    shard.acknowledge(0);
    assertThat(answered).as("told after its last acknowledgement").isCompleted();
    assertThat(zero.ack).isEqualTo(two.ack);
    assertThat(rounds.isEmpty()).isFalse();
    rounds.leave(id(2));
    rounds.leave(id(2));
    assertThat(rounds.isEmpty()).isTrue();
  }

  @Test
  void whenATrainerSitsOut_thenRoundsGoOnWithoutItUntilItRegistersAgain() {
    register(0, 1);
    give(1, 0);
    Answers sitting = give(new Push(List.of(new Contributor(0, 10, 1, 0)), Push.SITTING_OUT, 0, null, List.of()));
    assertThat(sitting.ack).isNotNull();
    assertThat(shard.ranks(0)).containsExactly(1);
    give(1, 1);
    assertThat(shard.ranks(1)).containsExactly(1);
    assertThat(give(0, 2).error).isInstanceOf(InvalidInput.class).hasMessageContaining("sits out");
    register(0);
    give(1, 2);
    assertThat(shard.pushes).hasSize(2);
    give(0, 2);
    assertThat(shard.ranks(2)).containsExactly(0, 1);
  }

  @Test
  void whenATrainerIsLost_thenItsRoundIsReleasedAndItsUnsentPushesGoWithIt() {
    register(0, 1, 2);
    Answers zero = give(0, 0);
    Answers lost = give(1, 0);
    give(0, 1);
    give(1, 1);
    rounds.lost(new TrainerId(1, 10));
    assertThat(lost.isDone()).as("an older life is meant").isFalse();
    rounds.lost(id(1));
    assertThat(lost.error).isInstanceOf(PeerLost.class).hasMessageContaining("step 0 of trainer 1");
    assertThat(shard.pushes).isEmpty();
    rounds.lost(id(2));
    assertThat(shard.ranks(0)).containsExactly(0);
    assertThat(shard.ranks(1)).containsExactly(0);
    assertThat(zero.isDone()).isFalse();
    assertThat(give(1, 2).error).isInstanceOf(StaleGeneration.class).hasMessageContaining("not registered");
  }

  @Test
  void whenTheShardKnewOfALossFirst_thenTheRoundIsTakenApartAndOnlyTheLostOneIsRefused() {
    register(0, 1);
    Answers zero = give(0, 0);
    Answers one = give(1, 0);
    shard.refuse(0, new StaleGeneration("trainer 1 was declared lost"));
    assertThat(shard.ranks(1)).containsExactly(0);
    assertThat(shard.ranks(2)).containsExactly(1);
    assertThat(shard.alone).containsExactlyElementsOf(shard.pushes.subList(1, 3));
    shard.acknowledge(1);
    shard.refuse(2, new StaleGeneration("trainer 1 was declared lost"));
    assertThat(zero.ack).isNotNull();
    assertThat(one.error).isInstanceOf(StaleGeneration.class);
  }

  @Test
  void whenAPushIsRepeatedBeforeItsRoundIsSent_thenTheLaterCallIsAnswered() {
    register(0, 1);
    Answers first = give(0, 0);
    Answers second = give(0, 0);
    assertThat(first.error).isInstanceOf(Cancelled.class);
    assertThat(give(new Push(List.of(new Contributor(0, 10, 99, 1)), 0, 0, null, List.of())).error)
        .isInstanceOf(InvalidInput.class).hasMessageContaining("another sequence");
    give(1, 0);
    assertThat(shard.pushes).hasSize(1);
    assertThat(shard.ranks(0)).containsExactly(0, 1);
    shard.acknowledge(0);
    assertThat(second.ack).isNotNull();
  }

  @Test
  void whenAPushIsRepeatedAfterItsRoundWasSent_thenItGoesByItself() {
    register(0, 1);
    give(0, 0);
    give(1, 0);
    Answers again = give(0, 0);
    assertThat(shard.ranks(1)).containsExactly(0);
    assertThat(shard.alone).hasSize(1);
    shard.acknowledge(1);
    assertThat(again.ack).isNotNull();
  }

  @Test
  void whenATrainerRegistersLate_thenItWaitsForNobodyWhoIsFurther() {
    register(0);
    give(0, 0);
    give(0, 1);
    register(1);
    give(1, 0);
    assertThat(shard.ranks(2)).containsExactly(1);
    give(0, 2);
    assertThat(shard.pushes).as("step 2 waits for trainer 1").hasSize(3);
    give(1, 1);
    give(1, 2);
    assertThat(shard.ranks(4)).containsExactly(0, 1);
  }

  @Test
  void whenANewLifeOfARankRegisters_thenTheFormerOneIsLost() {
    register(0, 1);
    Answers old = give(0, 0);
    rounds.register(new TrainerId(0, 99));
    assertThat(old.error).isInstanceOf(PeerLost.class);
    assertThat(give(0, 1).error).isInstanceOf(StaleGeneration.class).hasMessageContaining("incarnation 99");
    assertThatThrownBy(() -> rounds.register(id(0))).isInstanceOf(StaleGeneration.class);
    give(1, 0);
    assertThat(shard.pushes).isEmpty();
    give(new Push(List.of(new Contributor(0, 99, 1, 1)), 0, 0, DenseMemory.of(new float[1]), List.of()));
    assertThat(shard.ranks(0)).containsExactly(0, 1);
  }

  @Test
  void whenTheFastRunAhead_thenRoundsGoOnInTheOrderOfStepsUpToTheLimit() {
    register(0, 1);
    give(0, 0);
    give(0, 1);
    assertThat(give(0, 2).error).isInstanceOf(Overloaded.class)
        .hasMessageContaining("limits.open_rounds 2").hasMessageContaining("waits for trainer 1");
    give(1, 0);
    give(1, 1);
    assertThat(shard.pushes).extracting(Push::step).containsExactly(0L, 1L);
    give(0, 2);
  }

  @Test
  void whenTooManyBytesAreHeld_thenThePushIsRefusedAndNothingChanges() {
    register(0, 1);
    give(push(0, 0, 1, new float[20]));
    assertThat(give(push(1, 0, 1, new float[20])).error).isInstanceOf(Overloaded.class)
        .hasMessageContaining("80 bytes").hasMessageContaining("limits.bytes 100");
    give(push(1, 0, 0));
    assertThat(shard.ranks(0)).containsExactly(0, 1);
  }

  @Test
  void whenPushesDoNotFitTogether_thenTheRoundFailsForAllAndTheShardSeesNothing() {
    register(0, 1);
    Answers zero = give(push(0, 0, 1, 1f));
    Answers one = give(push(1, 0, 1, 1f, 2f));
    assertThat(zero.error).isInstanceOf(InvalidInput.class).isSameAs(one.error);
    assertThat(shard.pushes).isEmpty();
  }

  @Test
  void whenAMergeFailsUnexpectedly_thenEveryContributorGetsAnErrorAndAllMemoryIsFree() {
    HeapBudget merged = new HeapBudget(1000);
    AggregationRounds broken = new AggregationRounds("census", 0, new AggregationRounds.Limits(2, 1000, merged), shard,
        TestClock.of(() -> nowMillis));
    List<SparseRows> rows = new ArrayList<>(List.of(new SparseRows("t", new long[] {7}, new float[2])));
    broken.register(id(0));
    broken.register(id(1));
    Answers zero = Answers.to(broken.push(new Push(List.of(new Contributor(0, 10, 1, 1)), 0, 0, null, rows)));
    rows.add(null); // no trainer can do this: it stands for a fault of this process
    Answers one = Answers.to(broken.push(new Push(List.of(new Contributor(1, 11, 1, 1)), 0, 0, null, List.of())));
    assertThat(List.of(zero, one)).allSatisfy(answer -> assertThat(answer.error).isInstanceOf(Indeterminate.class)
        .hasMessageContaining("push of step 0").hasMessageContaining("aggregator of shard 0 of job census")
        .hasMessageContaining("NullPointerException"));
    assertThat(merged.taken()).isZero();
    assertThat(broken.bytes()).isZero();
    assertThat(shard.pushes).isEmpty();
  }

  @Test
  void whenAMergedPushComes_thenItIsRefused() {
    register(0, 1);
    Push merged = new Push(List.of(new Contributor(0, 10, 1, 1), new Contributor(1, 11, 1, 1)), 0, 0, null, List.of());
    assertThat(give(merged).error).isInstanceOf(InvalidInput.class).hasMessageContaining("single trainers");
  }

  @Test
  void whenSomebodyWaits_thenWaitsSaysForWhom() {
    register(0, 1);
    give(1, 0);
    give(0, 0);
    give(0, 1);
    nowMillis += 2500;
    assertThat(rounds.waits()).singleElement().satisfies(wait -> assertThat(wait.sentence(nowMillis)).isEqualTo(
        "trainer 0 waits at aggregator of shard 0 of job census for trainer 1 (last step 0), push of step 1, "
            + "since 2.5 s"));
  }

  @Test
  void whenItCloses_thenUnsentPushesFail() {
    register(0, 1);
    Answers zero = give(0, 0);
    PeerLost reason = new PeerLost("the aggregator is shutting down");
    rounds.close(reason);
    assertThat(zero.error).isSameAs(reason);
    assertThat(rounds.isEmpty()).isTrue();
  }

  @Test
  void gradientsAreReleased_whenTheirPushIsAnswered() {
    register(0, 1);
    List<Integer> released = new ArrayList<>();
    give(new Push(List.of(new Contributor(0, 10, 1, 1)), 0, 0, releasable(() -> released.add(0)), List.of()));
    give(new Push(List.of(new Contributor(1, 11, 1, 1)), 0, 0, releasable(() -> released.add(1)), List.of()));
    assertThat(released).isEmpty();
    shard.acknowledge(0);
    assertThat(released).containsExactlyInAnyOrder(0, 1);
  }

  @Test
  void everyPushIsAnswered_whenOneCannotBeReleased() {
    register(0, 1);
    Answers zero = give(new Push(List.of(new Contributor(0, 10, 1, 1)), 0, 0, releasable(() -> {
      throw new IllegalStateException("released twice");
    }), List.of()));
    Answers one = give(1, 0);
    shard.acknowledge(0);
    assertThat(zero.ack).isNotNull().isSameAs(one.ack);
    assertThat(rounds.bytes()).isZero();
    assertThat(shard.failed).containsExactly("releasing the push of step 0 of trainer 0 at aggregator of shard 0 of "
        + "job census: released twice");
  }

  @Test
  void everyPushOfARoundTakenApartIsAnswered_whenOneCannotBeSent() {
    register(0, 1);
    Answers zero = give(0, 0);
    Answers one = give(1, 0);
    shard.fault = new IllegalStateException("no stream");
    shard.refuse(0, new StaleGeneration("trainer 1 was lost"));
    assertThat(zero.error).isInstanceOf(Indeterminate.class).hasMessageContaining("no stream");
    assertThat(shard.alone).as("the other one is sent").hasSize(1);
    shard.acknowledge(1);
    assertThat(one.ack).isNotNull();
    assertThat(rounds.bytes()).isZero();
    assertThat(shard.failed).hasSize(1);
  }

  private static DenseValues releasable(Runnable release) {
    return new DenseValues() {
      @Override
      public int size() {
        return 1;
      }

      @Override
      public float[] block(int b) {
        return new float[] {1};
      }

      @Override
      public void release() {
        release.run();
      }
    };
  }

  @Test
  void heldBytesCountDenseElementsIdsAndRows_upToTheLimitItself() {
    register(0, 1);
    SparseRows rows = new SparseRows("t", new long[] {7, 8}, new float[12]);
    give(new Push(List.of(new Contributor(0, 10, 1, 1)), 0, 0, null, List.of(rows)));
    assertThat(rounds.bytes()).isEqualTo(2 * 8 + 12 * 4);
    assertThat(give(push(1, 0, 1, new float[10])).error).isInstanceOf(Overloaded.class)
        .hasMessageContaining("of which 64 are held");
    give(push(1, 0, 1, new float[9]));
    assertThat(shard.pushes).as("64 and 36 bytes are the limit of 100").hasSize(1);
  }

  @Test
  void repeatedPushesCountOnceWhileTheyAreHeld_andNotAfterwards() {
    register(0, 1);
    give(0, 0);
    give(0, 0);
    assertThat(rounds.bytes()).isEqualTo(4);
    give(1, 0);
    give(0, 0);
    assertThat(rounds.bytes()).as("a round, and a push that is sent alone").isEqualTo(12);
    rounds.leave(id(0));
    rounds.leave(id(1));
    shard.acknowledge(0);
    assertThat(rounds.isEmpty()).as("one acknowledgement is missing").isFalse();
    shard.acknowledge(1);
    assertThat(rounds.isEmpty()).isTrue();
    assertThat(rounds.bytes()).isZero();
  }

  @Test
  void departureIsReportedAtOnce_whenNothingIsOwed() {
    register(0);
    assertThat(rounds.leave(id(3))).isCompleted();
    assertThat(rounds.leave(id(0))).isCompleted();
  }

  @Test
  void repeatedRegistrationKeepsWhatTheTrainerHasPushed() {
    register(0, 1);
    assertThat(rounds.trainers()).containsExactly(id(0), id(1));
    Answers zero = give(0, 0);
    register(0);
    assertThat(zero.isDone()).isFalse();
    assertThat(rounds.openRounds()).isEqualTo(1);
    give(1, 0);
    assertThat(shard.ranks(0)).containsExactly(0, 1);
    assertThat(rounds.openRounds()).isZero();
  }

  @Test
  void noRoundIsOpen_afterClosing() {
    register(0, 1);
    give(0, 0);
    rounds.close(new PeerLost("the aggregator is shutting down"));
    assertThat(rounds.openRounds()).isZero();
    assertThat(rounds.waits()).isEmpty();
    assertThat(rounds.trainers()).isEmpty();
  }

  private static Push pushOfRows(int rank, long step, int dense, int rows, int dim) {
    return new Push(List.of(new Contributor(rank, 10 + rank, step + 1, 1)), step, 0, DenseMemory.of(new float[dense]),
        List.of(new SparseRows("t", new long[rows], new float[rows * dim])));
  }

  private AggregationRounds within(HeapBudget merged) {
    AggregationRounds limited =
        new AggregationRounds("census", 3, new AggregationRounds.Limits(2, 1000, merged), shard, TestClock.of(() -> nowMillis));
    limited.register(id(0));
    limited.register(id(1));
    return limited;
  }

  /** 5 dense elements, the longer of both vectors, and 1 + 2 rows of 2 floats with an id each: 20 + 3 · 16 bytes. */
  @ParameterizedTest
  @CsvSource({"true", "false"})
  void whatARoundIsMergedToIsCounted_untilTheShardHasAnswered(boolean acknowledged) {
    HeapBudget merged = new HeapBudget(68);
    AggregationRounds limited = within(merged);
    limited.push(pushOfRows(0, 0, 5, 1, 2));
    assertThat(merged.taken()).as("nothing is merged yet").isZero();
    limited.push(new Push(List.of(new Contributor(1, 11, 1, 1)), 0, 0, null,
        List.of(new SparseRows("t", new long[2], new float[4]))));
    assertThat(shard.pushes).hasSize(1);
    assertThat(merged.taken()).isEqualTo(68);
    if (acknowledged) {
      shard.acknowledge(0);
    } else {
      shard.refuse(0, new InvalidInput("refused"));
    }
    assertThat(merged.taken()).isZero();
  }

  @Test
  void aRoundThatHasNoRoomToBeMergedFailsForAll_andTheNextIsMergedWhenThereIs() {
    HeapBudget merged = new HeapBudget(68);
    AggregationRounds limited = within(merged);
    merged.add(1);
    Answers zero = Answers.to(limited.push(pushOfRows(0, 4, 5, 1, 2)));
    Answers one = Answers.to(limited.push(pushOfRows(1, 4, 5, 2, 2)));
    assertThat(shard.pushes).isEmpty();
    assertThat(zero.error).isInstanceOf(Overloaded.class).hasMessageContainingAll("push of step 4 of trainer 0",
        "aggregator of shard 3 of job census",
        "its round of 2 pushes takes up to 68 bytes to merge, and 67 of 68 are free", "-Xmx", "gradient_aggregator.limits.bytes");
    assertThat(one.error).isInstanceOf(Overloaded.class).hasMessageContaining("push of step 4 of trainer 1");
    assertThat(limited.bytes()).isZero();
    assertThat(merged.taken()).isEqualTo(1);
    merged.giveBack(1);
    limited.push(pushOfRows(0, 5, 5, 1, 2));
    limited.push(pushOfRows(1, 5, 5, 2, 2));
    assertThat(shard.pushes).hasSize(1);
  }

  @Test
  void aRoundThatCannotBeMergedTakesNoRoom() {
    HeapBudget merged = new HeapBudget(68);
    AggregationRounds limited = within(merged);
    Answers zero = Answers.to(limited.push(pushOfRows(0, 0, 5, 1, 2)));
    limited.push(pushOfRows(1, 0, 4, 1, 2));
    assertThat(zero.error).isInstanceOf(InvalidInput.class);
    assertThat(merged.taken()).isZero();
  }
}
