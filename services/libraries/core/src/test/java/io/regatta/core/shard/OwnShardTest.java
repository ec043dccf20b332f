package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.regatta.core.dense.DenseMemory;
import io.regatta.core.dense.DenseValues;
import io.regatta.core.error.RegattaException.InvalidInput;
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
import io.regatta.core.exchange.ResumePoint;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.Momentum;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.table.SparseTable;
import io.regatta.core.table.TableSnapshot.Scope;
import io.regatta.core.testing.TestClock;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** A shard of one trainer: values set from outside, digests in slices, updates counted from a snapshot. */
class OwnShardTest {

  private static final int N = 10;
  private static final TrainerId ME = new TrainerId(0, 1);

  private final LaterTurns turns = new LaterTurns();
  private final ParameterShard shard = new ParameterShard(0, ShardLimits.defaults(), TestClock.at(1), turns);

  private void start(OptimizerSpec rule) {
    register(rule);
    shard.initialize("job", ME, DenseMemory.of(new float[N]));
  }

  private void register(OptimizerSpec rule) {
    ModelSpec model = new ModelSpec(1, List.of(new DenseVariable("a", List.of(3)), new DenseVariable("b", List.of(N - 3))),
        rule, List.of(new SparseTableSpec("t", 2, InitializerSpec.uniform(1, 2), rule)));
    shard.register(new JobSpec("job", Mode.ASYNC, 1, 0, NanPolicy.FAIL, 1, 1, model), ME, 0);
  }

  private Answer<PushAck> push(long sequence, float[] dense, long... ids) {
    float[] values = new float[2 * ids.length];
    Arrays.fill(values, 1);
    return Answer.to(shard.push("job", new Push(List.of(new Contributor(0, 1, sequence, 1)), sequence - 1, 0,
        dense == null ? null : DenseMemory.of(dense), List.of(new SparseRows("t", ids, values)))));
  }

  private float[] dense() {
    Answer<Pulled> answer = Answer.to(shard.pull("job", new Pull(0, 0, true, List.of(), false, true)));
    return answer.value.dense().toArray();
  }

  private static float[] filled(float value) {
    float[] all = new float[N];
    Arrays.fill(all, value);
    return all;
  }

  @Test
  void assignedValuesReplaceTheOthers_afterWhatIsUnderWay() {
    start(OptimizerSpec.sgd(1));
    Answer<PushAck> large = push(1, filled(5), LongStream.range(0, 10_000).toArray());
    assertThat(large.value).isNull();
    shard.assign("job", DenseMemory.of(filled(7)));
    assertThat(large.value).as("ended and answered").isNotNull();
    assertThat(dense()).containsOnly(7);
    assertThat(shard.status("job").version()).isEqualTo(1);
    assertThatThrownBy(() -> shard.assign("job", DenseMemory.of(new float[N + 1]))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("assignment has 11 dense elements");
  }

  @Test
  void aBrokenJobTakesNoValues() {
    start(OptimizerSpec.sgd(1));
    Answer<PushAck> answer =
        Answer.to(shard.push("job", new Push(List.of(new Contributor(0, 1, 1, 1)), 0, 0, new DenseValues() {
      @Override
      public int size() {
        return N;
      }

      @Override
      public float[] block(int b) {
        throw new IllegalStateException("broken");
      }

      @Override
      public int nonFinite() {
        return -1;
      }
    }, List.of())));
    assertThat(answer.error).isInstanceOf(PeerLost.class);
    assertThatThrownBy(() -> shard.assign("job", DenseMemory.of(filled(7)))).isInstanceOf(PeerLost.class);
  }

  @Test
  void replacedValuesSlotsAndVersionAreTheJobsFromThenOn() {
    start(OptimizerSpec.of(new Momentum(0.5f, false), 1));
    shard.replace("job", new float[][] {filled(3)}, new float[][][] {{filled(8)}}, 20, 20, 0);
    assertThat(dense()).containsOnly(3);
    assertThat(shard.status("job").version()).isEqualTo(20);
    push(1, filled(1));
    assertThat(dense()).as("3 less 0.5 of a velocity of 8, and a gradient of 1").containsOnly(-2);
  }

  /**
   * The optimizer of a copy has made as many updates as that of its original, whose slots were fresh at a later
   * version.
   */
  @Test
  void replacedSlotsAreAsOldAsWhereTheyComeFrom() {
    start(OptimizerSpec.of("adam", 0.5));
    shard.replace("job", new float[][] {new float[N]}, new float[][][] {{new float[N], new float[N]}}, 70, 5, 0);
    push(1, filled(1));
    assertThat(dense()[0]).isCloseTo(-first(6), within(1e-5f));
    assertThat(snapshot()).isEqualTo(new OptimizerUpdates(6, Map.of("t", 71L)));
  }

  @Test
  void theDigestInSlicesIsTheDigest() {
    start(OptimizerSpec.sgd(1));
    float[] gradient = new float[N];
    for (int i = 0; i < N; i++) {
      gradient[i] = i;
    }
    Answer<PushAck> large = push(1, gradient, LongStream.range(0, 3_000).toArray());
    long digest = shard.digest("job");
    assertThat(large.value).as("what is under way is ended, and answered").isNotNull();
    for (int slice : new int[] {1, 2, 7, 100}) {
      DigestCursor cursor = shard.digestCursor("job");
      int slices = 1;
      while (cursor.advance(slice)) {
        slices++;
      }
      assertThat(cursor.value()).isEqualTo(digest);
      // a slice may end a row late, and stepping over a segment counts as a value
      assertThat(slices).isBetween((N + 6_000) / (slice + 1), (N + 6_000 + SparseTable.SEGMENTS) / slice + 3);
    }
    assertThat(new ParameterShard(3, ShardLimits.defaults(), TestClock.at(1)).index()).isEqualTo(3);
  }

  /** With fresh slots Adam's first update is the rate, whatever the version; after 5 restored updates it is not. */
  @Test
  void updatesAreCountedFromWhereTheSnapshotSays() {
    register(OptimizerSpec.of("adam", 0.5));
    shard.restore("job").finish(new float[][] {new float[N]}, new float[][][] {{new float[N], new float[N]}}, 70,
        new OptimizerUpdates(5, Map.of("t", 3L)), new ResumePoint(0, List.of()));
    assertThat(snapshot()).isEqualTo(new OptimizerUpdates(5, Map.of("t", 3L)));
    float[] row = row();
    push(1, filled(1), 9);
    assertThat(snapshot()).isEqualTo(new OptimizerUpdates(6, Map.of("t", 4L)));
    assertThat(dense()[0]).isCloseTo(-first(6), within(1e-5f));
    assertThat(row()[0]).isCloseTo(row[0] - first(4), within(1e-5f));
  }

  /** Adam's step for a gradient of 1 on fresh slots, corrected as update number n. */
  private static float first(int n) {
    double m = 0.1 / (1 - Math.pow(0.9, n));
    double v = 0.001 / (1 - Math.pow(0.999, n));
    return (float) (0.5 * m / Math.sqrt(v));
  }

  private float[] row() {
    Answer<Pulled> answer =
        Answer.to(shard.pull("job", new Pull(0, 0, false, List.of(new SparseIds("t", new long[] {9})), false, true)));
    return answer.value.sparse().get(0).values();
  }

  private OptimizerUpdates snapshot() {
    Answer<JobSnapshot> answer = Answer.to(shard.snapshot("job", 0, Scope.ALL, 1 << 20));
    assertThat(answer.value.shard()).isZero();
    assertThat(answer.value.spec().job()).isEqualTo("job");
    answer.value.end(true);
    return answer.value.updates();
  }
}
