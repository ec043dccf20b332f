package io.regatta.core.shard;

import static io.regatta.core.dense.DenseValues.BLOCK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.dense.DenseBlocks;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.dense.DenseSink;
import io.regatta.core.dense.DenseValues;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.StaleGeneration;
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
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.reduce.AggregationRounds;
import io.regatta.core.testing.TestClock;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/**
 * Tests of pushes in progress while streams break and the pushes continue, and while trainers of an aggregator's push
 * are lost. The gradients are whole numbers and the rate is 1: sums are exact.
 */
class ApplicationStreamsTest {

  private static final int N = 3 * BLOCK + 100;
  private static final String ROWS = "rows";
  private static final String MORE = "more";

  private static JobSpec spec(Mode mode, int trainers) {
    OptimizerSpec sgd = OptimizerSpec.sgd(1);
    ModelSpec model = new ModelSpec(7, List.of(new DenseVariable("w", List.of(N))), sgd,
        List.of(new SparseTableSpec(ROWS, 1, InitializerSpec.zeros(), sgd),
            new SparseTableSpec(MORE, 1, InitializerSpec.zeros(), sgd)));
    return new JobSpec("job", mode, trainers, 1000, NanPolicy.FAIL, 1, 64, model);
  }

  private static ParameterShard shard(JobSpec spec) {
    ParameterShard s = new ParameterShard(0, new ShardLimits(4, 4, 4, 1_000_000), TestClock.at(1));
    for (int r = 0; r < spec.trainers(); r++) {
      s.register(spec, new TrainerId(r, 1), 0);
    }
    s.initialize("job", new TrainerId(0, 1), DenseMemory.of(new float[N]));
    return s;
  }

  private static float[] fill(float v) {
    float[] g = new float[N];
    Arrays.fill(g, v);
    return g;
  }

  private static void put(DenseSink sink, float[] g, int from, int to) {
    ByteBuffer bytes = ByteBuffer.allocate((to - from) * 4).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asFloatBuffer().put(g, from, to - from);
    sink.put(bytes);
  }

  private static SparseRows row(String table, float value) {
    return new SparseRows(table, new long[] {Long.MIN_VALUE}, new float[] {value});
  }

  private static Push header(Push p) {
    return new Push(p.contributors(), p.step(), p.version(), null, p.sparse());
  }

  private static PushAck push(ParameterShard shard, Push push) {
    Answer<PushAck> answer = Answer.to(shard.push("job", push));
    if (answer.error instanceof RegattaException e) {
      throw e;
    }
    return answer.value;
  }

  private static float[] values(ParameterShard s) {
    Answer<Pulled> a = Answer.to(s.pull("job", new Pull(0, 0, true, List.of(), false)));
    float[] v = a.value.dense().toArray();
    a.value.dense().release();
    return v;
  }

  private static float row(ParameterShard shard, String table) {
    Answer<Pulled> a = Answer.to(shard.pull("job",
        new Pull(0, 0, false, List.of(new SparseIds(table, new long[] {Long.MIN_VALUE})), false)));
    return a.value.sparse().get(0).values()[0];
  }

  private static Push ofBoth(long incarnationOfSecond, float gradient) {
    return new Push(List.of(new Contributor(0, 1, 1, 1), new Contributor(1, incarnationOfSecond, 1, 1)), 0, 0,
        DenseMemory.of(fill(gradient)), List.of(row(ROWS, gradient)));
  }

  /** An aggregator's way to the shard: trainer 1 is lost when the first block of its first push has come. */
  private static final class LosingLink implements AggregationRounds.Shard {
    private final ParameterShard shard;
    private boolean lost;

    LosingLink(ParameterShard shard) {
      this.shard = shard;
    }

    @Override
    public CompletionStage<PushAck> push(Push p) {
      try {
        DenseSink sink = shard.begin("job", header(p), N);
        put(sink, p.dense().toArray(), 0, BLOCK);
        if (!lost) {
          lost = true;
          shard.lost("job", new TrainerId(1, 1));
        }
        put(sink, p.dense().toArray(), BLOCK, N);
        return CompletableFuture.completedStage(ApplicationStreamsTest.push(shard, header(p)));
      } catch (RegattaException e) {
        return CompletableFuture.failedStage(e);
      }
    }

    @Override
    public CompletionStage<PushAck> pushAlone(Push p) {
      return push(p);
    }

    @Override
    public void failed(String what, Throwable fault) {
      throw new AssertionError(what, fault);
    }
  }

  @Test
  void aTrainerLostInTheMiddleOfAnAggregatorsPushTakesNobodyAlong() {
    ParameterShard shard = shard(spec(Mode.HALF_ASYNC, 2));
    AggregationRounds rounds = new AggregationRounds("job", 0, new AggregationRounds.Limits(4, 1L << 30),
        new LosingLink(shard), TestClock.at(1));
    List<Answer<PushAck>> said = new ArrayList<>();
    for (int r = 0; r < 2; r++) {
      rounds.register(new TrainerId(r, 1));
    }
    for (int r = 0; r < 2; r++) {
      Push push = new Push(List.of(new Contributor(r, 1, 1, 1)), 0, 0, DenseMemory.of(fill(1)), List.of(row(ROWS, 1)));
      said.add(Answer.to(rounds.push(push)));
    }
    assertThat(said.get(0).value).isEqualTo(new PushAck(1, 0, false, false));
    assertThat(values(shard)).containsOnly(-1);
    assertThat(row(shard, ROWS)).isEqualTo(-1);
    assertThat(shard.status("job").pushes()).isEqualTo(1);
    assertThat(push(shard, new Push(List.of(new Contributor(0, 1, 1, 1)), 0, 0, DenseMemory.of(fill(1)), List.of()))
        .repeatedPush()).isTrue();
  }

  /** The aggregator is gone, too: the survivor repeats its own gradient where that of both was under way. */
  @Test
  void whatOneTrainerRepeatsOfAPushOfBothGoesOnWhereThatWas() {
    ParameterShard shard = shard(spec(Mode.HALF_ASYNC, 2));
    Push both = ofBoth(1, 1);
    DenseSink sink = shard.begin("job", header(both), N);
    put(sink, fill(1), 0, BLOCK + 5);
    shard.lost("job", new TrainerId(1, 1));
    Push alone = new Push(both.contributors().subList(0, 1), 0, 0, DenseMemory.of(fill(5)),
        List.of(row(MORE, 5), row(ROWS, 5)));
    put(shard.begin("job", header(alone), N), fill(5), 0, 2 * BLOCK);
    assertRefused(() -> put(sink, fill(1), BLOCK + 5, N), StaleGeneration.class);
    assertThat(push(shard, alone)).isEqualTo(new PushAck(1, 0, false, false));
    float[] values = values(shard);
    assertThat(Arrays.copyOf(values, BLOCK)).containsOnly(-1);
    assertThat(Arrays.copyOfRange(values, BLOCK, N)).containsOnly(-5);
    assertThat(row(shard, ROWS)).isEqualTo(-1);
    assertThat(row(shard, MORE)).isEqualTo(-5);
    assertThat(push(shard, alone).repeatedPush()).isTrue();
  }

  @Test
  void aPushOfTwoIsRefused_whenOneOfThemRepeatsItsOwnAlone() {
    ParameterShard shard = shard(spec(Mode.HALF_ASYNC, 3));
    List<Contributor> all = List.of(new Contributor(0, 1, 1, 1), new Contributor(1, 1, 1, 1), new Contributor(2, 1, 1, 1));
    DenseSink sink = shard.begin("job", new Push(all, 0, 0, null, List.of()), N);
    put(sink, fill(1), 0, BLOCK);
    Push alone = new Push(all.subList(1, 2), 0, 0, DenseMemory.of(fill(5)), List.of());
    put(shard.begin("job", header(alone), N), fill(5), 0, 2 * BLOCK);
    Push two = new Push(all.subList(0, 2), 0, 0, DenseMemory.of(fill(9)), List.of());
    assertRefused(() -> push(shard, two), InvalidInput.class);
    assertRefused(() -> put(sink, fill(1), BLOCK, N), StaleGeneration.class);
    assertThat(values(shard)[N - 1]).isZero();
    push(shard, alone);
    assertThat(values(shard)[N - 1]).isEqualTo(-5);
  }

  @Test
  void aPushOfAnotherLifeWithTheSameSequenceIsNotTheSamePush() {
    ParameterShard shard = shard(spec(Mode.HALF_ASYNC, 2));
    put(shard.begin("job", header(ofBoth(1, 1)), N), fill(1), 0, BLOCK);
    shard.lost("job", new TrainerId(1, 1));
    shard.register(spec(Mode.HALF_ASYNC, 2), new TrainerId(1, 2), 0);
    assertRefused(() -> push(shard, ofBoth(2, 100)), InvalidInput.class);
    assertThat(values(shard)[N - 1]).isZero();
  }

  private static void assertRefused(Runnable call, Class<? extends RegattaException> type) {
    assertThatThrownBy(call::run).isInstanceOf(type);
  }

  /**
   * Trainers push in order over streams that break at any point; a broken stream's rest may still come, before or after
   * the repetition. Integer gradients and SGD with rate 1: sums are exact, so every element must have been taken once.
   */
  @Property(tries = 400)
  void everyElementAndRowOfEveryPushIsTakenOnce(@ForAll int seed, @ForAll Mode mode) {
    if (mode != Mode.SYNC) {
      breaks(seed, mode);
    }
  }

  private static final class Stream {
    final int rank;
    long seq;
    int at; // elements given
    DenseSink sink;
    boolean begun;
    boolean kept;
    DenseBlocks blocks;
    boolean dead;

    Stream(int rank, long seq) {
      this.rank = rank;
      this.seq = seq;
    }
  }

  private static void breaks(int seed, Mode mode) {
    Random random = new Random(seed);
    int trainers = 3;
    int pushes = 4;
    ParameterShard shard = shard(spec(mode, trainers));
    float[] expected = new float[N];
    float rowExpected = 0;
    float sign = mode == Mode.GEO ? 1 : -1;
    List<Stream> live = new ArrayList<>();
    List<Stream> zombies = new ArrayList<>();
    List<DenseValues> snapshots = new ArrayList<>();
    List<float[]> seen = new ArrayList<>();
    long[] done = new long[trainers];
    for (int r = 0; r < trainers; r++) {
      live.add(new Stream(r, 1));
    }
    int guard = 0;
    while (Arrays.stream(done).anyMatch(d -> d < pushes)) {
      if (++guard > 100_000) {
        throw new AssertionError("stuck, seed " + seed);
      }
      int r = random.nextInt(trainers);
      if (random.nextInt(10) == 0) { // a snapshot
        Answer<Pulled> a = Answer.to(shard.pull("job", new Pull(r, 0, true, List.of(), false)));
        snapshots.add(a.value.dense());
        seen.add(a.value.dense().toArray());
      }
      if (!snapshots.isEmpty() && random.nextInt(10) == 0) {
        int i = random.nextInt(snapshots.size());
        assertThat(snapshots.get(i).toArray()).isEqualTo(seen.get(i));
        snapshots.remove(i).release();
        seen.remove(i);
      }
      if (!zombies.isEmpty() && random.nextInt(3) == 0) {
        Stream z = zombies.get(random.nextInt(zombies.size()));
        try {
          advance(shard, z, random);
          if (z.at < 0) {
            z.seq++; // what the client had written behind it
            z.at = 0;
            z.begun = false;
          }
        } catch (RegattaException e) {
          z.dead = true;
        }
        zombies.removeIf(s -> s.dead || s.seq > Math.min(pushes, done[s.rank] + 1));
      }
      Stream s = live.get(r);
      if (done[r] >= pushes) {
        continue;
      }
      if (random.nextInt(6) == 0) {
        zombies.add(s);
        live.set(r, new Stream(r, s.seq));
        continue;
      }
      advance(shard, s, random);
      if (s.at < 0) {
        done[r] = s.seq;
        live.set(r, new Stream(r, s.seq + 1));
      }
    }
    for (int r = 0; r < trainers; r++) {
      for (long q = 1; q <= pushes; q++) {
        rowExpected += sign * value(r, q);
      }
    }
    Arrays.fill(expected, rowExpected);
    assertThat(values(shard)).isEqualTo(expected);
    assertThat(row(shard, ROWS)).isEqualTo(rowExpected);
    assertThat(shard.status("job").version()).isEqualTo((long) trainers * pushes);
    assertThat(shard.status("job").pushes()).isEqualTo((long) trainers * pushes);
  }

  private static float value(int rank, long seq) {
    return (rank + 1) * 10 + seq;
  }

  private static void advance(ParameterShard shard, Stream s, Random random) {
    Push push = new Push(List.of(new Contributor(s.rank, 1, s.seq, 1)), s.seq - 1, 0, null,
        List.of(row(ROWS, value(s.rank, s.seq))));
    if (!s.begun) {
      s.sink = shard.begin("job", push, N);
      s.kept = s.sink == null;
      s.blocks = s.kept ? new DenseBlocks(N, shard.blocks()) : null;
      s.begun = true;
      s.at = 0;
      return;
    }
    if (s.at < N) {
      int to = Math.min(N, s.at + 1 + random.nextInt(BLOCK));
      float[] g = fill(value(s.rank, s.seq));
      put(s.kept ? s.blocks : s.sink, g, s.at, to);
      s.at = to;
      if (to < N) {
        return;
      }
    }
    push(shard, new Push(push.contributors(), push.step(), push.version(), s.kept ? s.blocks : null, push.sparse()));
    s.at = -1;
  }
}
