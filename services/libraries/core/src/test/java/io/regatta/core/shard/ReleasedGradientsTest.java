package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.dense.DenseValues;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.PushMark;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.testing.TestClock;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** The gradient of each push is released, however that ends, and its sender gets an answer. */
class ReleasedGradientsTest {

  private static final long[] MANY = LongStream.range(0, 10_000).toArray();

  private final LaterTurns turns = new LaterTurns();

  /** Values that know how often they have been released. */
  private static class Gradient implements DenseValues {
    private final float[] values;
    int released;

    Gradient(float... values) {
      this.values = values;
    }

    @Override
    public int size() {
      return values.length;
    }

    @Override
    public float[] block(int b) {
      return values;
    }

    @Override
    public void release() {
      released++;
    }
  }

  /** Breaks the job that applies it. */
  private static final class Breaking extends Gradient {
    Breaking() {
      super(1, 1);
    }

    @Override
    public float[] block(int b) {
      throw new IllegalStateException("broken");
    }

    @Override
    public int nonFinite() {
      return -1;
    }
  }

  private ParameterShard shard(Mode mode, NanPolicy policy) {
    return shard(mode, policy, 2);
  }

  /** Returns the shard of a job of {@code trainers} trainers, two of which have registered. */
  private ParameterShard shard(Mode mode, NanPolicy policy, int trainers) {
    OptimizerSpec sgd = OptimizerSpec.sgd(1);
    ModelSpec model = new ModelSpec(1, List.of(new DenseVariable("w", List.of(2))), sgd,
        List.of(new SparseTableSpec("t", 1, InitializerSpec.zeros(), sgd)));
    ParameterShard shard = new ParameterShard(0, new ShardLimits(4, 4, 64, 1_000_000), TestClock.at(1), turns);
    for (int rank = 0; rank < 2; rank++) {
      shard.register(new JobSpec("job", mode, trainers, 0, policy, 1, 1, model), new TrainerId(rank, 1), 0);
    }
    Gradient initial = new Gradient(0, 0);
    shard.initialize("job", new TrainerId(0, 1), initial);
    assertThat(initial.released).isEqualTo(1);
    return shard;
  }

  private static Answer<PushAck> push(ParameterShard shard, int rank, long sequence, DenseValues gradient, long... ids) {
    List<SparseRows> rows = ids.length == 0 ? List.of() : List.of(new SparseRows("t", ids, new float[ids.length]));
    Answer<PushAck> answer = Answer.to(shard.push("job",
        new Push(List.of(new Contributor(rank, 1, sequence, 1)), sequence - 1, 0, gradient, rows)));
    return answer;
  }

  @Test
  void whenTheJobIsUnknown() {
    Gradient gradient = new Gradient(1, 1);
    ParameterShard empty = new ParameterShard(0, ShardLimits.defaults(), TestClock.at(1));
    assertThat(push(empty, 0, 1, gradient).error).isInstanceOf(InvalidInput.class);
    assertThat(gradient.released).isEqualTo(1);
    Gradient initial = new Gradient(1, 1);
    assertThatThrownBy(() -> empty.initialize("job", new TrainerId(0, 1), initial)).isInstanceOf(InvalidInput.class);
    assertThat(initial.released).isEqualTo(1);
  }

  @Test
  void whenItIsRefusedOrApplied() {
    for (Mode mode : List.of(Mode.SYNC, Mode.ASYNC)) {
      ParameterShard shard = shard(mode, NanPolicy.FAIL);
      Gradient wrong = new Gradient(1, 1, 1);
      assertThat(push(shard, 0, 1, wrong).error).isInstanceOf(InvalidInput.class);
      assertThat(wrong.released).isEqualTo(1);
      Gradient first = new Gradient(1, 1);
      Gradient second = new Gradient(1, 1);
      push(shard, 0, 1, first);
      assertThat(push(shard, 1, 1, second).value).isNotNull();
      assertThat(first.released).isEqualTo(1);
      assertThat(second.released).isEqualTo(1);
    }
  }

  @Test
  void whenItBreaksItsJob() {
    ParameterShard shard = shard(Mode.ASYNC, NanPolicy.FAIL);
    Gradient breaking = new Breaking();
    assertThat(push(shard, 0, 1, breaking).error).isInstanceOf(PeerLost.class);
    assertThat(breaking.released).isPositive();
  }

  @Test
  void whenItIsSkipped_beforeItsRoundCloses() {
    ParameterShard shard = shard(Mode.SYNC, NanPolicy.SKIP);
    Gradient bad = new Gradient(1, Float.NaN);
    Answer<PushAck> answer = push(shard, 0, 1, bad);
    assertThat(answer.value).isNull();
    assertThat(bad.released).isEqualTo(1);
    push(shard, 1, 1, new Gradient(1, 1));
    assertThat(answer.value.skippedPush()).isTrue();
  }

  @Test
  void whenTheJobEnds_whileItsRoundWaitsForATrainerThatNeverCame() {
    ParameterShard shard = shard(Mode.SYNC, NanPolicy.FAIL, 3);
    Gradient gradient = new Gradient(1, 1);
    Answer<PushAck> answer = push(shard, 0, 1, gradient);
    shard.lost("job", new TrainerId(0, 1));
    assertThat(gradient.released).isZero();
    shard.lost("job", new TrainerId(1, 1));
    assertThat(answer.error).isInstanceOf(Cancelled.class).hasMessageContaining("push of step 0");
    assertThat(gradient.released).isEqualTo(1);
  }

  @Test
  void whenTheJobEnds_whileItIsBeingApplied() {
    ParameterShard shard = shard(Mode.ASYNC, NanPolicy.FAIL);
    Gradient gradient = new Gradient(1, 1);
    Answer<PushAck> answer = push(shard, 0, 1, gradient, MANY);
    shard.lost("job", new TrainerId(0, 1));
    assertThat(gradient.released).isZero();
    shard.lost("job", new TrainerId(1, 1));
    assertThat(answer.error).isInstanceOf(Cancelled.class).hasMessageContaining("push of step 0 of trainer 0 at shard 0");
    assertThat(gradient.released).isEqualTo(1);
  }

  @Test
  void whenTheJobEnds_whileItWaitsForASnapshot() {
    ParameterShard shard = shard(Mode.ASYNC, NanPolicy.FAIL);
    Answer<List<PushMark>> held = hold(shard);
    Gradient gradient = new Gradient(1, 1);
    Answer<PushAck> answer = push(shard, 0, 1, gradient);
    shard.lost("job", new TrainerId(0, 1));
    shard.lost("job", new TrainerId(1, 1));
    assertThat(held.value).isNotNull();
    assertThat(answer.error).isInstanceOf(Cancelled.class).hasMessageContaining("push of step 0 of trainer 0");
    assertThat(gradient.released).isEqualTo(1);
  }

  @Test
  void whenAPushThatWaitedBesideItBreaksTheJob() {
    ParameterShard shard = shard(Mode.ASYNC, NanPolicy.FAIL);
    hold(shard);
    Answer<PushAck> breaking = push(shard, 0, 1, new Breaking());
    Gradient gradient = new Gradient(1, 1);
    Answer<PushAck> behind = push(shard, 1, 1, gradient);
    shard.endHold("job", "");
    assertThat(breaking.error).isInstanceOf(PeerLost.class);
    assertThat(behind.error).isInstanceOf(PeerLost.class);
    assertThat(gradient.released).isEqualTo(1);
  }

  private static Answer<List<PushMark>> hold(ParameterShard shard) {
    return Answer.to(shard.hold("job", ""));
  }

  /** A hold that waits for a push under way, until it is ended, or the job is. */
  @Test
  void holdsThatComeToNothingAreAnswered() {
    ParameterShard shard = shard(Mode.ASYNC, NanPolicy.FAIL);
    push(shard, 0, 1, null, MANY);
    Answer<List<PushMark>> first = hold(shard);
    Answer<List<PushMark>> second = hold(shard);
    assertThat(shard.endHold("job", "")).isTrue();
    assertThat(shard.endHold("job", "")).as("again").isFalse();
    assertThat(List.of(first.error, second.error)).allSatisfy(e ->
        assertThat(e).isInstanceOf(Overloaded.class).hasMessageContaining("given up"));
    Answer<List<PushMark>> third = hold(shard);
    shard.lost("job", new TrainerId(0, 1));
    shard.lost("job", new TrainerId(1, 1));
    assertThat(third.error).isInstanceOf(Overloaded.class).hasMessageContaining("the job has ended");
  }

  @Test
  void theLimitOfWaitingPushesIsEachTrainersOwn() {
    ParameterShard shard = shard(Mode.ASYNC, NanPolicy.FAIL);
    hold(shard);
    for (int n = 1; n <= 4; n++) {
      push(shard, 0, n, null);
    }
    assertThat(push(shard, 1, 1, null).error).isNull();
    assertThat(push(shard, 0, 5, null).error).isInstanceOf(Overloaded.class).hasMessageContaining("4 pushes");
  }

  @Test
  void aRepeatedPushIsAnsweredDuringAHold() {
    ParameterShard shard = shard(Mode.ASYNC, NanPolicy.FAIL);
    push(shard, 0, 1, null);
    hold(shard);
    assertThat(push(shard, 0, 1, null).value.repeatedPush()).isTrue();
    assertThat(push(shard, 0, 2, null).value).as("a new one").isNull();
  }
}
