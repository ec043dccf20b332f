package io.regatta.core.shard;

import static io.regatta.core.dense.DenseValues.BLOCK;
import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.dense.DenseMemory;
import io.regatta.core.dense.DenseValues;
import io.regatta.core.error.RegattaException.PeerLost;
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
import io.regatta.core.shard.internal.job.TimeSlices;
import io.regatta.core.testing.TestClock;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** A sync round that takes several turns, and all that can come between them; the oracle takes one turn. */
class RoundTurnsTest {

  private static final int BLOCKS = 300;
  private static final int N = (BLOCKS - 1) * BLOCK + 77;
  private static final String ROWS = "rows";
  private static final int DIM = 10;
  private static final TrainerId[] IDS = {new TrainerId(0, 1), new TrainerId(1, 1)};

  private final LaterTurns turns = new LaterTurns();
  private final JobSpec spec = spec();
  private final ParameterShard shard = start(new ParameterShard(0, ShardLimits.defaults(), TestClock.at(1), turns));
  private final ParameterShard whole = start(new ParameterShard(0, ShardLimits.defaults(), TestClock.at(1)));

  private static JobSpec spec() {
    OptimizerSpec sgd = OptimizerSpec.sgd(0.5);
    return new JobSpec("job", Mode.SYNC, 2, 0, NanPolicy.FAIL, 1, 64,
        new ModelSpec(7, List.of(new DenseVariable("w", List.of(N))), sgd,
            List.of(new SparseTableSpec(ROWS, DIM, InitializerSpec.uniform(-1, 1), sgd))));
  }

  private ParameterShard start(ParameterShard shard) {
    for (TrainerId id : IDS) {
      shard.register(spec, id, 0);
    }
    shard.initialize("job", IDS[0], DenseMemory.of(new float[N]));
    return shard;
  }

  private static Push push(int rank, long step) {
    float[] g = new float[N];
    Arrays.fill(g, 1 + rank + step);
    g[N - 1] = -3;
    long[] ids = LongStream.range(0, 1000).map(i -> i + 250 * rank).toArray();
    float[] rows = new float[ids.length * DIM];
    Arrays.fill(rows, 0.25f);
    return new Push(List.of(new Contributor(rank, 1, step + 1, 8)), step, 0, DenseMemory.of(g),
        List.of(new SparseRows(ROWS, ids, rows)));
  }

  private static Answer<PushAck> push(ParameterShard shard, Push push) {
    return Answer.to(shard.push("job", push));
  }

  private static Answer<Pulled> pull(ParameterShard shard, int rank, long minStep) {
    return Answer.to(shard.pull("job", new Pull(rank, minStep, true, List.of(), false)));
  }

  /** Pushes of both, of which the second begins to close the round. */
  private List<Answer<PushAck>> round(long step) {
    push(whole, push(0, step));
    push(whole, push(1, step));
    return List.of(push(shard, push(0, step)), push(shard, push(1, step)));
  }

  private void assertSame() {
    assertThat(shard.digest("job")).isEqualTo(whole.digest("job"));
    assertThat(shard.status("job")).isEqualTo(whole.status("job"));
    assertThat(shard.waits()).isEmpty();
  }

  @Test
  void aTurnHasABoundedPartOfTheRoundAndNobodySeesItBeforeItHasClosed() {
    Answer<Pulled> before = pull(shard, 0, 0);
    Answer<Pulled> parked = pull(shard, 0, 1);
    List<Answer<PushAck>> acks = round(0);
    Answer<Pulled> during = pull(shard, 1, 1);
    Answer<Pulled> read = Answer.to(shard.pull("job", new Pull(1, 0, true, List.of(), false, true)));
    DigestCursor digest = shard.digestCursor("job");
    int n = 0;
    while (!turns.isEmpty()) {
      assertThat(turns).as("one turn at a time").hasSize(1);
      for (Answer<?> answer : List.of(acks.get(0), acks.get(1), parked, during, read)) {
        assertThat(answer.value).isNull();
      }
      assertThat(digest.advance(1)).isTrue();
      assertThat(digest.value()).isZero();
      turns.poll().run();
      n++;
    }
    // Two gradients and the values of each element; rows beside.
    int full = (int) (3L * N / TimeSlices.FLOATS);
    assertThat(n).isBetween(full, full + 4);
    acks.forEach(a -> assertThat(a.value.version()).isEqualTo(1));
    assertThat(before.value.dense().toArray()).containsOnly(0);
    float[] expected = new float[N];
    Arrays.fill(expected, -0.75f);
    expected[N - 1] = 1.5f;
    for (Answer<Pulled> seen : List.of(parked, during, read)) {
      assertThat(seen.value.dense().toArray()).isEqualTo(expected);
      assertThat(seen.value.version()).isEqualTo(1);
    }
    assertSame();
  }

  @Test
  void pushesOfTheNextStepWaitForTheirOwnRound() {
    List<Answer<PushAck>> first = round(0);
    turns.poll().run();
    List<Answer<PushAck>> second = round(1);
    Answer<Pulled> parked = pull(shard, 0, 2);
    assertThat(turns).hasSize(1);
    turns.runAll();
    assertThat(first.get(0).value.version()).isEqualTo(1);
    assertThat(second.get(1).value.version()).isEqualTo(2);
    assertThat(parked.value.version()).isEqualTo(2);
    assertSame();
  }

  @Test
  void aPushRepeatedMeanwhileIsAcknowledgedWithItsRound() {
    List<Answer<PushAck>> acks = round(0);
    push(whole, push(1, 0));
    Answer<PushAck> again = push(shard, push(1, 0));
    assertThat(again.value).isNull();
    turns.runAll();
    assertThat(again.value).isEqualTo(new PushAck(1, 0, true, false));
    assertThat(acks.get(1).value.repeatedPush()).isFalse();
    assertSame();
  }

  @Test
  void whoIsLostMeanwhileIsPartOfTheRoundAndOfNoOther() {
    List<Answer<PushAck>> acks = round(0);
    Answer<Pulled> parked = pull(shard, 1, 1);
    shard.lost("job", IDS[1]);
    whole.lost("job", IDS[1]);
    assertThat(parked.error).isInstanceOf(PeerLost.class);
    push(whole, push(0, 1));
    Answer<PushAck> alone = push(shard, push(0, 1));
    assertThat(alone.value).isNull();
    turns.runAll();
    assertThat(acks.get(1).value.version()).isEqualTo(1);
    assertThat(alone.value.version()).isEqualTo(2);
    assertSame();
  }

  @Test
  void aNewLifeThatComesMeanwhileTakesPartFromTheNextRoundOn() {
    for (ParameterShard s : List.of(shard, whole)) {
      s.leave("job", IDS[1]);
      push(s, push(0, 0));
    }
    TrainerId reborn = new TrainerId(1, 2);
    assertThat(turns).isNotEmpty();
    assertThat(shard.register(spec, reborn, 0)).isEqualTo(1);
    assertThat(whole.register(spec, reborn, 0)).isEqualTo(1);
    turns.runAll();
    for (ParameterShard s : List.of(shard, whole)) {
      push(s, push(0, 1));
      Push second = push(1, 1);
      push(s, new Push(List.of(new Contributor(1, 2, 1, 8)), 1, 0, second.dense(), second.sparse()));
    }
    turns.runAll();
    assertSame();
  }

  @Test
  void theLastToLeaveGetsItsAcknowledgementAndTheRestOfTheWorkIsDropped() {
    List<Answer<PushAck>> acks = round(0);
    shard.leave("job", IDS[0]);
    assertThat(acks.get(0).value).isNull();
    shard.leave("job", IDS[1]);
    assertThat(shard.jobs()).isEmpty();
    acks.forEach(a -> assertThat(a.value.version()).isEqualTo(1));
    assertThat(turns.runAll()).isEqualTo(1);
    start(shard);
    assertThat(pull(shard, 0, 0).value.dense().toArray()).containsOnly(0);
  }

  @Test
  void aRoundThatFailsInALaterTurnAnswersEverybody() {
    Push good = push(1, 0);
    DenseValues breaks = new DenseValues() {
      @Override
      public int size() {
        return N;
      }

      @Override
      public float[] block(int b) {
        if (b == BLOCKS - 2) {
          throw new OutOfMemoryError("in the middle");
        }
        return new float[BLOCK];
      }

      @Override
      public int nonFinite() {
        return -1;
      }
    };
    Answer<PushAck> first = push(shard, new Push(List.of(new Contributor(0, 1, 1, 8)), 0, 0, breaks, List.of()));
    Answer<PushAck> second = push(shard, good);
    Answer<Pulled> parked = pull(shard, 0, 1);
    assertThat(second.error).isNull();
    assertThat(turns.runAll()).isGreaterThan(1);
    for (Answer<?> answer : List.of(first, second, parked, push(shard, push(0, 1)))) {
      assertThat(answer.error).isInstanceOf(PeerLost.class).hasMessageContainingAll("round of step 0",
          "in the middle");
    }
    shard.leave("job", IDS[0]);
    shard.leave("job", IDS[1]);
    assertThat(shard.jobs()).isEmpty();
  }

  @Test
  void manyRowsAreMergedOverSeveralTurnsBeforeAnyIsApplied() {
    Answer<PushAck> last = null;
    for (ParameterShard s : List.of(whole, shard)) {
      for (int rank = 0; rank < 2; rank++) {
        long[] ids = LongStream.range(10_000 * rank, 10_000 * rank + 30_000).map(i -> -i * i).toArray();
        float[] rows = new float[ids.length * DIM];
        for (int i = 0; i < rows.length; i++) {
          rows[i] = 1f / (1 + i + rank);
        }
        last = push(s, new Push(List.of(new Contributor(rank, 1, 1, 8 + rank)), 0, 0, null,
            List.of(new SparseRows(ROWS, ids, rows))));
      }
    }
    int merging = 0;
    for (; rows(shard) == 0; merging++) {
      turns.poll().run();
    }
    assertThat(merging).as("60,000 rows").isGreaterThanOrEqualTo(4);
    long before = rows(shard);
    while (last.value == null) {
      turns.poll().run();
      assertThat(rows(shard) - before).isLessThan(6000);
      before = rows(shard);
    }
    assertThat(before).isEqualTo(40_000);
    assertSame();
  }

  private static long rows(ParameterShard shard) {
    return shard.status("job").rows().get(ROWS);
  }
}
