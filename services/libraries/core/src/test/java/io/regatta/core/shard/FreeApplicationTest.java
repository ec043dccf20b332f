package io.regatta.core.shard;

import static io.regatta.core.dense.DenseValues.BLOCK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.dense.BlockPool;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.dense.DenseSink;
import io.regatta.core.error.RegattaException;
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
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.shard.internal.free.FreeApplication;
import io.regatta.core.shard.internal.free.FreeStrategy;
import io.regatta.core.shard.internal.job.Completions;
import io.regatta.core.shard.internal.push.PushApplication;
import io.regatta.core.testing.TestClock;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** Pushes that are applied while they come, against the same pushes handed in whole. */
class FreeApplicationTest {

  private static final int N = 2 * BLOCK + 100;
  private static final String ROWS = "rows";

  private final ParameterShard whole = shard(Mode.ASYNC, NanPolicy.FAIL, 1000);
  private final ParameterShard shard = shard(Mode.ASYNC, NanPolicy.FAIL, 1000);

  private static ParameterShard shard(Mode mode, NanPolicy nan, long rows) {
    OptimizerSpec adam = mode == Mode.GEO ? OptimizerSpec.sgd(1) : OptimizerSpec.of("adam", 0.01);
    ModelSpec model = new ModelSpec(7, List.of(new DenseVariable("w", List.of(N))), adam,
        List.of(new SparseTableSpec(ROWS, 2, InitializerSpec.zeros(), adam)));
    JobSpec spec = new JobSpec("job", mode, 2, 5, nan, 1, 64, model);
    ParameterShard shard = new ParameterShard(0, new ShardLimits(1, 4, 4, rows), TestClock.at(1));
    shard.register(spec, new TrainerId(0, 1), 0);
    shard.register(spec, new TrainerId(1, 1), 0);
    shard.initialize("job", new TrainerId(0, 1), DenseMemory.of(gradient(99)));
    return shard;
  }

  private static float[] gradient(long seed) {
    Random random = new Random(seed);
    float[] g = new float[N];
    for (int i = 0; i < N; i++) {
      g[i] = (float) random.nextGaussian();
    }
    return g;
  }

  private static Push push(int rank, long sequence, float[] dense) {
    return new Push(List.of(new Contributor(rank, 1, sequence, 1)), sequence - 1, 0, DenseMemory.of(dense),
        List.of(new SparseRows(ROWS, new long[] {rank, 10 + sequence}, new float[] {1, 2, 3, 4})));
  }

  private static Push header(Push push) {
    return new Push(push.contributors(), push.step(), push.version(), null, push.sparse());
  }

  private static DenseSink begin(ParameterShard shard, Push push) {
    return shard.begin("job", header(push), N);
  }

  private static void put(DenseSink sink, float[] g, int from, int to) {
    ByteBuffer bytes = ByteBuffer.allocate((to - from) * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asFloatBuffer().put(g, from, to - from);
    sink.put(bytes.order(ByteOrder.BIG_ENDIAN));
    assertThat(bytes.hasRemaining()).isFalse();
  }

  private static PushAck end(ParameterShard shard, Push push) {
    Answer<PushAck> answer = Answer.to(shard.push("job", push));
    assertThat(answer.error).isNull();
    return answer.value;
  }

  private static float[] values(ParameterShard shard) {
    Answer<Pulled> pulled = Answer.to(shard.pull("job", new Pull(0, 0, true, List.of(), false)));
    return pulled.value.dense().toArray();
  }

  private void assertSame() {
    assertThat(values(shard)).isEqualTo(values(whole));
    assertThat(shard.digest("job")).isEqualTo(whole.digest("job"));
    assertThat(shard.status("job")).isEqualTo(whole.status("job"));
  }

  /** Broken off anywhere, as often as you like, and repeated from the start. */
  @Property(tries = 60)
  void whateverIsBrokenOffAndRepeatedIsAppliedOnce(@ForAll @IntRange(min = 1, max = 3) int pushes,
      @ForAll @IntRange(max = 3) int breaks, @ForAll @IntRange(min = 1, max = N) int piece, @ForAll long seed,
      @ForAll Mode mode) {
    if (mode == Mode.SYNC) {
      return;
    }
    ParameterShard whole = shard(mode, NanPolicy.FAIL, 1000);
    ParameterShard shard = shard(mode, NanPolicy.FAIL, 1000);
    Random random = new Random(seed);
    for (int p = 1; p <= pushes; p++) {
      float[] g = gradient(p);
      Push push = push(0, p, g);
      PushAck expected = end(whole, push);
      for (int b = 0; b < breaks; b++) {
        put(begin(shard, push), g, 0, random.nextInt(N + 1));
      }
      DenseSink sink = begin(shard, push);
      for (int at = 0; at < N; at += piece) {
        put(sink, g, at, Math.min(N, at + piece));
      }
      assertThat(end(shard, header(push))).isEqualTo(expected);
      assertThat(end(shard, push).repeatedPush()).isTrue();
      end(whole, push);
    }
    assertThat(values(shard)).isEqualTo(values(whole));
    assertThat(shard.digest("job")).isEqualTo(whole.digest("job"));
    assertThat(shard.status("job")).isEqualTo(whole.status("job"));
  }

  @Test
  void aBrokenPushLeavesWholeBlocksAndIsCompletedBySomebodyWhoSendsItWhole() {
    float[] g = gradient(1);
    Push push = push(0, 1, g);
    float[] before = values(shard);
    put(begin(shard, push), g, 0, BLOCK + 5);
    end(whole, push);
    float[] applied = values(whole);
    System.arraycopy(before, BLOCK, applied, BLOCK, N - BLOCK);
    assertThat(values(shard)).isEqualTo(applied);
    assertThat(shard.status("job").version()).isEqualTo(1);
    assertThat(shard.status("job").pushes()).isZero();
    assertThat(end(shard, push)).isEqualTo(new PushAck(1, 0, false, false));
    assertSame();
  }

  @Test
  void twoTrainersPushesThatComeTogetherAreTwoUpdates() {
    float[] a = gradient(1);
    float[] b = gradient(2);
    DenseSink first = begin(shard, push(0, 1, a));
    put(first, a, 0, BLOCK);
    DenseSink second = begin(shard, push(1, 1, b));
    put(second, b, 0, N);
    put(first, a, BLOCK, N);
    assertThat(end(shard, header(push(1, 1, b)))).isEqualTo(new PushAck(2, 1, false, false));
    assertThat(end(shard, header(push(0, 1, a)))).isEqualTo(new PushAck(2, 0, false, false));
    assertThat(shard.status("job").version()).isEqualTo(2);
    end(whole, push(0, 1, a));
    end(whole, push(1, 1, b));
    assertThat(Arrays.copyOf(values(shard), BLOCK)).isEqualTo(Arrays.copyOf(values(whole), BLOCK));
  }

  @Test
  void aPushThatComesOverTwoStreamsAtOnceIsAppliedOnceWhicheverBeganLast() {
    float[] g = gradient(1);
    Push push = push(0, 1, g);
    DenseSink repetition = begin(shard, push);
    put(repetition, g, 0, BLOCK + 3);
    DenseSink late = begin(shard, push); // the broken stream's, read behind the head of its repetition
    put(repetition, g, BLOCK + 3, BLOCK + 7);
    put(late, g, 0, N);
    end(shard, header(push));
    put(repetition, g, BLOCK + 7, N);
    assertThat(end(shard, header(push)).repeatedPush()).isTrue();
    end(whole, push);
    end(whole, push);
    assertSame();
  }

  @Test
  void whoIsGoneAppliesNothingMore() {
    float[] g = gradient(1);
    DenseSink sink = begin(shard, push(0, 1, g));
    put(sink, g, 0, BLOCK);
    shard.lost("job", new TrainerId(0, 1));
    assertThatThrownBy(() -> put(sink, g, BLOCK, N)).isInstanceOf(StaleGeneration.class);
    assertThatThrownBy(() -> begin(shard, push(0, 1, g))).isInstanceOf(StaleGeneration.class);
  }

  @Test
  void aSecondPushOfATrainerIsKeptWhileOneIsUnderWay() {
    float[] a = gradient(1);
    float[] b = gradient(2);
    DenseSink first = begin(shard, push(0, 1, a));
    assertThat(begin(shard, push(0, 2, b))).isNull();
    put(first, a, 0, N);
    end(shard, header(push(0, 1, a)));
    end(shard, push(0, 2, b));
    end(whole, push(0, 1, a));
    end(whole, push(0, 2, b));
    assertSame();
  }

  @Test
  void whatIsRefusedByItsHeadOrItsRowsAppliesNothing() {
    long digest = shard.digest("job");
    Push push = push(0, 1, gradient(1));
    List<SparseRows> infinite = List.of(new SparseRows(ROWS, new long[] {1}, new float[] {0, Float.NaN}));
    assertRefused(() -> shard.begin("job", header(push), N - 1), InvalidInput.class, "has " + N);
    assertRefused(() -> shard.begin("job", new Push(push.contributors(), 0, 9, null, List.of()), N),
        InvalidInput.class, "version 9");
    assertRefused(() -> shard.begin("job", new Push(push.contributors(), 0, 0, null, infinite), N), InvalidInput.class,
        "holds NaN");
    assertRefused(() -> shard.begin("other", header(push), N), InvalidInput.class, "job 'other'");
    ParameterShard full = shard(Mode.ASYNC, NanPolicy.FAIL, 1);
    assertRefused(() -> begin(full, push), Overloaded.class, "limit of 1 rows");
    assertThat(shard.digest("job")).isEqualTo(digest);
    assertThat(shard.status("job").version()).isZero();
    assertThat(full.status("job").version()).isZero();
  }

  private static void assertRefused(Runnable call, Class<? extends RegattaException> type, String text) {
    assertThatThrownBy(call::run).isInstanceOf(type).hasMessageContaining(text);
  }

  @Test
  void aBlockThatIsNotFiniteIsNotApplied() {
    float[] g = gradient(1);
    g[BLOCK + 3] = Float.POSITIVE_INFINITY;
    Push push = push(0, 1, g);
    DenseSink sink = begin(shard, push);
    float[] before = values(shard);
    assertThatThrownBy(() -> put(sink, g, 0, N)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("dense element " + (BLOCK + 3) + " is Infinity");
    assertThat(values(shard)[0]).isNotEqualTo(before[0]);
    assertThat(Arrays.copyOfRange(values(shard), BLOCK, N)).isEqualTo(Arrays.copyOfRange(before, BLOCK, N));

    ParameterShard skipping = shard(Mode.ASYNC, NanPolicy.SKIP, 1000);
    assertThat(skipping.begin("job", header(push), N)).as("kept, to be dropped whole or applied whole").isNull();
    assertThat(end(skipping, push).skippedPush()).isTrue();
    assertThat(values(skipping)).isEqualTo(before);
    assertThat(skipping.status("job").skippedPushes()).isEqualTo(1);
  }

  @Test
  void aBlockWhoseFirstElementIsNotFiniteIsNotApplied() {
    float[] g = gradient(1);
    g[BLOCK] = Float.NaN;
    DenseSink sink = begin(shard, push(0, 1, g));
    float[] before = values(shard);
    assertThatThrownBy(() -> put(sink, g, 0, N)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("dense element " + BLOCK + " is NaN");
    assertThat(Arrays.copyOfRange(values(shard), BLOCK, N)).isEqualTo(Arrays.copyOfRange(before, BLOCK, N));
  }

  @Test
  void aPushThatIsComingIsRefused_onceItsJobIsBroken() {
    float[] g = gradient(1);
    DenseSink sink = begin(shard, push(0, 1, g));
    put(sink, g, 0, BLOCK);
    SparseRows good = new SparseRows(ROWS, new long[] {5}, new float[2]);
    SparseRows bad = new SparseRows(ROWS, new long[] {5}, new float[1]);
    Answer<PushAck> broken = null;
    for (int reads = 0; broken == null || !(broken.error instanceof PeerLost); reads++) {
      List<SparseRows> rows = new ReplacedRows(good, bad, reads);
      broken = Answer.to(shard.push("job", new Push(List.of(new Contributor(1, 1, 1, 1)), 0, 0, null, rows)));
      assertThat(broken.value).isNull();
    }
    assertThatThrownBy(() -> put(sink, g, BLOCK, N)).isSameAs(broken.error);
  }

  @Test
  void theMemoryOfABlockThatWasComingIsUsedAgain() {
    float[] g = gradient(1);
    int before = shard.blocks().size();
    for (int sequence = 1; sequence <= 3; sequence++) {
      Push push = push(0, sequence, g);
      put(begin(shard, push), g, 0, N);
      end(shard, header(push));
      assertThat(shard.blocks().size()).isEqualTo(before + 1);
    }
  }

  @Test
  void costsTheElementsThatItReadsAndWrites() {
    OptimizerSpec sgd = OptimizerSpec.sgd(1);
    JobState job = new JobState(new JobSpec("job", Mode.ASYNC, 1, 0, NanPolicy.FAIL, 1, 64,
        new ModelSpec(7, List.of(new DenseVariable("w", List.of(N))), sgd, List.of())), 0, ShardLimits.defaults(),
        new BlockPool(), TestClock.at(1), null, new Completions());
    job.tables.initialize(DenseMemory.of(new float[N]));
    float[] g = gradient(1);
    Push push = new Push(List.of(new Contributor(0, 1, 1, 1)), 0, 0, DenseMemory.of(g), List.of());
    PushApplication application = new FreeApplication((FreeStrategy) job.strategy, push, List.of(), "push", 1, 0);
    assertThat(application.advance(push, 0)).as("no budget").isEqualTo(-1);
    assertThat(job.tables.denseSnapshot().toArray()).containsOnly(0);
    assertThat(application.advance(push, 1_000_000)).as("gradient and values of three blocks")
        .isEqualTo(1_000_000 - 3 * 2 * BLOCK);
    assertThat(job.tables.denseSnapshot().at(N - 1)).isEqualTo(-g[N - 1]);
  }

  @Test
  void rowsThatComeBehindTheDenseElementsAreAppliedToo() {
    float[] g = gradient(1);
    Push push = push(0, 1, g);
    Push bare = new Push(push.contributors(), push.step(), push.version(), null, List.of());
    put(begin(shard, bare), g, 0, N);
    end(shard, header(push));
    end(whole, push);
    assertSame();
  }

  @Test
  void aPushThatEndsWithoutItsElementsIsRefused() {
    float[] g = gradient(1);
    Push push = push(0, 1, g);
    put(begin(shard, push), g, 0, BLOCK);
    Answer<PushAck> answer = Answer.to(shard.push("job", header(push)));
    assertThat(answer.error).isInstanceOf(InvalidInput.class).hasMessageContaining("lacks dense elements");
    end(shard, push);
    end(whole, push);
    assertSame();
  }
}
