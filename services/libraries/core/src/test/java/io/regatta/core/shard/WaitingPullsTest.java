package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.dense.DenseMemory;
import io.regatta.core.error.RegattaException.Cancelled;
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
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.testing.TestClock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Tests of pulls that wait, or are answered over several time slices: their peers, their limits, and their end. */
class WaitingPullsTest {

  private static final int BOUND = 2;
  private static final long[] MANY = LongStream.range(0, 10_000).toArray();

  private final LaterTurns turns = new LaterTurns();

  private ParameterShard shard(Mode mode, int trainers, int pulls, long rows) {
    OptimizerSpec sgd = OptimizerSpec.sgd(1);
    ModelSpec model = new ModelSpec(1, List.of(new DenseVariable("w", List.of(1))), sgd,
        List.of(new SparseTableSpec("t", 1, InitializerSpec.zeros(), sgd)));
    ParameterShard shard = new ParameterShard(0, new ShardLimits(4, 64, pulls, rows), TestClock.at(1), turns);
    for (int rank = 0; rank < trainers; rank++) {
      shard.register(new JobSpec("job", mode, trainers, BOUND, NanPolicy.FAIL, 1, 1, model), new TrainerId(rank, 1), 0);
    }
    return shard;
  }

  private ParameterShard begun(Mode mode, int trainers) {
    ParameterShard shard = shard(mode, trainers, 64, 1_000_000);
    shard.initialize("job", new TrainerId(0, 1), DenseMemory.of(new float[1]));
    return shard;
  }

  private static Answer<PushAck> push(ParameterShard shard, int rank, long sequence, long... ids) {
    List<SparseRows> rows = ids.length == 0 ? List.of() : List.of(new SparseRows("t", ids, new float[ids.length]));
    Answer<PushAck> answer = Answer.to(shard.push("job",
        new Push(List.of(new Contributor(rank, 1, sequence, 1)), sequence - 1, 0, null, rows)));
    return answer;
  }

  private static Answer<Pulled> pull(ParameterShard shard, int rank, long step, long... ids) {
    return Answer.to(shard.pull("job",
        new Pull(rank, step, true, ids.length == 0 ? List.of() : List.of(new SparseIds("t", ids)), false)));
  }

  private static List<String> waitsFor(ParameterShard shard, String who, String operation) {
    return shard.waits().stream().filter(w -> w.who().equals(who) && w.operation().startsWith(operation))
        .flatMap(w -> w.waitsFor().stream()).map(Wait.Peer::name).toList();
  }

  @Test
  void beforeTheFirstValuesTheyWaitForRankZero() {
    ParameterShard shard = shard(Mode.SYNC, 2, 64, 100);
    pull(shard, 1, 0);
    assertThat(waitsFor(shard, "trainer 1", "pull")).containsExactly("trainer 0");
  }

  @Test
  void inRoundsTheyWaitForThoseWhoHaveNotPushed() {
    ParameterShard shard = begun(Mode.SYNC, 4);
    push(shard, 0, 1);
    push(shard, 2, 1);
    pull(shard, 0, 1);
    assertThat(waitsFor(shard, "trainer 0", "pull")).containsExactly("trainer 1", "trainer 3");
    assertThat(waitsFor(shard, "trainer 2", "push")).containsExactly("trainer 1", "trainer 3");
    push(shard, 1, 1);
    pull(shard, 1, 1);
    assertThat(waitsFor(shard, "trainer 1", "pull")).containsExactly("trainer 3");
    pull(shard, 3, 1);
    assertThat(waitsFor(shard, "trainer 3", "pull")).hasSize(1).allMatch(name -> name.startsWith("its own push"));
  }

  @Test
  void withinABoundTheyWaitForThoseWhoAreTooFarBehind() {
    ParameterShard shard = begun(Mode.SSP, 3);
    for (int n = 1; n <= 3; n++) {
      push(shard, 0, n);
    }
    push(shard, 1, 1);
    Answer<Pulled> pull = pull(shard, 0, 3);
    assertThat(waitsFor(shard, "trainer 0", "pull")).as("step 3 may be %d ahead", BOUND).containsExactly("trainer 2");
    push(shard, 2, 1);
    assertThat(pull.value.clockLead()).isEqualTo(2);
    assertThat(pull(shard, 0, 0).value.clockLead()).as("of the clock that it asks at").isEqualTo(-1);
  }

  @Test
  void withoutABoundTheLeadIsThatOfTheAskersClock() {
    ParameterShard shard = begun(Mode.ASYNC, 2);
    for (int n = 1; n <= 3; n++) {
      push(shard, 0, n);
    }
    assertThat(pull(shard, 0, 0).value.clockLead()).isEqualTo(3);
    assertThat(shard.status("job").clockLeadMax()).isEqualTo(3);
  }

  @Test
  void whileARoundIsAppliedTheyWaitForIt() {
    ParameterShard shard = begun(Mode.SYNC, 1);
    Answer<PushAck> round = push(shard, 0, 1, MANY);
    Answer<Pulled> pull = pull(shard, 0, 1);
    while (waitsFor(shard, "trainer 0", "pull").contains("its own push, which is being applied")) {
      turns.poll().run(); // the push is looked through
    }
    assertThat(round.value).isNull();
    assertThat(waitsFor(shard, "trainer 0", "pull")).containsExactly("a round, which is being applied");
    assertThat(waitsFor(shard, "trainer 0", "push")).containsExactly("the round, which is being applied");
    push(shard, 0, 2);
    assertThat(waitsFor(shard, "trainer 0", "push")).containsExactly("the round, which is being applied",
        "pulls that are being answered, or the round before");
    turns.runAll();
    assertThat(pull.value).isNotNull();
  }

  @Test
  void openAnswersAndWaitingPullsTogetherHaveALimit() {
    ParameterShard shard = shard(Mode.ASYNC, 1, 3, 1_000_000);
    shard.initialize("job", new TrainerId(0, 1), DenseMemory.of(new float[1]));
    Answer<Pulled> answering = pull(shard, 0, 0, MANY);
    push(shard, 0, 1, MANY);
    Answer<Pulled> second = pull(shard, 0, 1, 5);
    Answer<Pulled> third = pull(shard, 0, 1, 5);
    assertThat(answering.value == null && second.value == null && third.value == null).isTrue();
    assertThat(pull(shard, 0, 1, 5).error).isInstanceOf(Overloaded.class).hasMessageContaining("3 pulls wait");
    turns.runAll();
    assertThat(answering.value).isNotNull();
    assertThat(second.value).isNotNull();
    assertThat(third.value).isNotNull();
    assertThat(pull(shard, 0, 1, 5).value).isNotNull();
  }

  @Test
  void theLossOfATrainerFailsItsOwnPullsOnly() {
    ParameterShard shard = begun(Mode.ASYNC, 2);
    Answer<Pulled> first = pull(shard, 0, 0, MANY);
    Answer<Pulled> second = pull(shard, 1, 0, MANY);
    shard.lost("job", new TrainerId(0, 1));
    assertThat(first.error).isInstanceOf(PeerLost.class);
    turns.runAll();
    assertThat(second.value).isNotNull();

    Answer<Pulled> last = pull(shard, 1, 0, MANY);
    push(shard, 1, 1, MANY);
    Answer<Pulled> parked = pull(shard, 1, 1, 5);
    shard.lost("job", new TrainerId(1, 1));
    assertThat(last.error).as("declared lost, then the job ends").isInstanceOf(PeerLost.class);
    assertThat(parked.error).isInstanceOf(PeerLost.class);
  }

  @Test
  void whoLeavesCancelsItsPulls_andOthersGoOn() {
    ParameterShard shard = begun(Mode.SYNC, 2);
    Answer<Pulled> leaving = pull(shard, 0, 1);
    Answer<Pulled> staying = pull(shard, 1, 1);
    shard.leave("job", new TrainerId(0, 1));
    assertThat(leaving.error).isInstanceOf(Cancelled.class);
    assertThat(staying.error).isNull();
    push(shard, 1, 1);
    assertThat(staying.value).isNotNull();
  }

  @Test
  void aPullWhoseRowsHaveNoRoomIsRefused_whenItIsReleased() {
    ParameterShard shard = shard(Mode.SYNC, 1, 64, 4);
    shard.initialize("job", new TrainerId(0, 1), DenseMemory.of(new float[1]));
    Answer<Pulled> tooMany = pull(shard, 0, 1, 1, 2, 3, 4, 5);
    Answer<Pulled> fits = pull(shard, 0, 1, 1, 2, 3, 4);
    assertThat(tooMany.error).isNull();
    push(shard, 0, 1);
    assertThat(tooMany.error).isInstanceOf(Overloaded.class).hasMessageContaining("5 new sparse rows");
    assertThat(fits.value).isNotNull();
    assertThat(shard.status("job").refused()).isEqualTo(1);
    assertThat(shard.status("job").counts().get("t").refused()).isEqualTo(1);
  }

  /** Three answers that are released at once, of which the first takes more than a turn, and two have room. */
  @Test
  void rowsThatAReleasedAnswerIsToCreateCountAtOnce() {
    ParameterShard shard = shard(Mode.SYNC, 1, 64, 25_000);
    shard.initialize("job", new TrainerId(0, 1), DenseMemory.of(new float[1]));
    List<Answer<Pulled>> answers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      answers.add(pull(shard, 0, 1, LongStream.range(10_000 * i, 10_000 * (i + 1)).toArray()));
    }
    push(shard, 0, 1);
    turns.runAll();
    assertThat(answers.get(0).value).isNotNull();
    assertThat(answers.get(1).value).isNotNull();
    assertThat(answers.get(2).error).isInstanceOf(Overloaded.class);
  }

  @Test
  void rowsThatAnOpenAnswerHasCreatedCountOnce() {
    ParameterShard shard = shard(Mode.ASYNC, 1, 64, 15_000);
    shard.initialize("job", new TrainerId(0, 1), DenseMemory.of(new float[1]));
    Answer<Pulled> open = pull(shard, 0, 0, MANY);
    assertThat(open.value).isNull();
    assertThat(shard.status("job").rows().get("t")).isPositive();
    Answer<Pulled> tooMany = pull(shard, 0, 0, LongStream.range(20_000, 25_001).toArray());
    Answer<Pulled> rest = pull(shard, 0, 0, LongStream.range(20_000, 25_000).toArray());
    turns.runAll();
    assertThat(tooMany.error).isInstanceOf(Overloaded.class);
    assertThat(rest.value).isNotNull();
    assertThat(open.value).isNotNull();
    assertThat(shard.status("job").rows().get("t")).isEqualTo(15_000);
  }

  /** If no pull waits for them, all pushes that fit one time slice are applied in one. */
  @Test
  void smallPushesBehindALargeOneShareItsLastTurn() {
    ParameterShard shard = begun(Mode.ASYNC, 1);
    List<Answer<PushAck>> acks = new ArrayList<>();
    acks.add(push(shard, 0, 1, MANY));
    int large = 0;
    for (int n = 2; n <= 30; n++) {
      acks.add(push(shard, 0, n, n));
    }
    while (acks.get(0).value == null) {
      turns.poll().run();
      large++;
    }
    assertThat(large).isPositive();
    assertThat(turns.runAll()).isLessThanOrEqualTo(1);
    assertThat(acks).allSatisfy(a -> assertThat(a.value).isNotNull());
  }

  @Test
  void acknowledgementsOfARoundComeInTheOrderOfRanks() {
    ParameterShard shard = begun(Mode.SYNC, 3);
    List<Integer> order = new ArrayList<>();
    for (int rank : new int[] {1, 0, 2}) {
      Push push = new Push(List.of(new Contributor(rank, 1, 1, 1)), 0, 0, null, List.of());
      shard.push("job", push).whenComplete((ack, error) -> order.add(rank));
    }
    assertThat(order).containsExactly(0, 1, 2);
  }

  @Test
  void answersAreNotNested_whenEachReceiverAsksAgain() {
    int pulls = 5000;
    ParameterShard shard = shard(Mode.SYNC, 1, 2 * pulls, 1000);
    shard.initialize("job", new TrainerId(0, 1), DenseMemory.of(new float[1]));
    Pull next = new Pull(0, 1, false, List.of(), false);
    List<Answer<Pulled>> again = new ArrayList<>();
    List<Integer> depths = new ArrayList<>();
    for (int i = 0; i < pulls; i++) {
      shard.pull("job", next).whenComplete((pulled, error) -> {
        depths.add(Thread.currentThread().getStackTrace().length);
        again.add(Answer.to(shard.pull("job", next)));
      });
    }
    assertThat(depths).as("all wait for the round").isEmpty();
    push(shard, 0, 1);
    assertThat(again).hasSize(pulls).allSatisfy(a -> assertThat(a.value).isNotNull());
    assertThat(depths.stream().distinct()).hasSize(1);
  }

  @Test
  void changedRowsThatTakeSeveralTurnsToCollectAreAllAnswered() {
    ParameterShard shard = begun(Mode.GEO, 2);
    long[] ids = LongStream.range(0, 60_000).toArray();
    push(shard, 0, 1, ids);
    turns.runAll();
    Answer<Pulled> changed = Answer.to(shard.pull("job", new Pull(1, 0, false, List.of(), true)));
    assertThat(changed.value).isNull();
    turns.runAll();
    assertThat(Arrays.stream(changed.value.sparse().get(0).ids()).sorted().toArray()).isEqualTo(ids);
  }
}
