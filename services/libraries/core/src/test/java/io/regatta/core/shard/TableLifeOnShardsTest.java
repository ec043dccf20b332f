package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.client.LocalShardLink;
import io.regatta.core.client.ParameterClient;
import io.regatta.core.client.ParameterClient.Values;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Pulled;
import io.regatta.core.exchange.Shrunk;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.model.TableLife;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.shard.internal.parameters.CountedPulls;
import io.regatta.core.table.TableCounts;
import io.regatta.core.testing.TestClock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Shows and clicks, admission, shrinks and limits as trainers meet them: over clients, rounds and turns. */
class TableLifeOnShardsTest {

  private static final String T = "t";
  private static final int WIDTH = 3; // a gradient of one value, show, click

  private static final long YEAR_MILLIS = 365L * 24 * 3600 * 1000;

  private long nowMillis = 1_000_000;
  private long wallMillis = 1_700_000_000_000L;

  private static JobSpec job(Mode mode, int trainers, int shards, TableLife life) {
    OptimizerSpec sgd = OptimizerSpec.sgd(1);
    return new JobSpec("job", mode, trainers, 0, NanPolicy.FAIL, shards, 64, new ModelSpec(7, List.of(), sgd,
        List.of(new SparseTableSpec(T, 1, InitializerSpec.uniform(-1, 1), sgd, life))));
  }

  private List<ParameterClient> clients(JobSpec job, List<ParameterShard> shards) {
    for (int s = 0; s < job.shards(); s++) {
      shards.add(new ParameterShard(s, ShardLimits.defaults(), TestClock.of(() -> wallMillis, () -> nowMillis), null));
    }
    List<ParameterClient> clients = new ArrayList<>();
    for (int rank = 0; rank < job.trainers(); rank++) {
      clients.add(new ParameterClient(job, new TrainerId(rank, 1), shards.stream().map(LocalShardLink::new).toList(),
          Runnable::run));
    }
    clients.forEach(c -> c.register().join());
    return clients;
  }

  /** Ten examples a step: with one id each, clicked or not. */
  private static final int EXAMPLES = 10;

  /** The push of some of a step's examples: mean gradient over these, shows and clicks summed. */
  private static SparseRows rows(long step, int from, int to) {
    Random random = new Random(step);
    TreeMap<Long, float[]> byId = new TreeMap<>();
    for (int example = 0; example < EXAMPLES; example++) {
      long id = random.nextInt(12) * 0x1_0000_0001L;
      boolean clicked = random.nextInt(3) == 0;
      if (example >= from && example < to) {
        float[] row = byId.computeIfAbsent(id, i -> new float[WIDTH]);
        row[0] += (clicked ? 0.5f : -0.25f) / (to - from);
        row[1]++;
        row[2] += clicked ? 1 : 0;
      }
    }
    float[] values = new float[byId.size() * WIDTH];
    int at = 0;
    for (float[] row : byId.values()) {
      System.arraycopy(row, 0, values, at, WIDTH);
      at += WIDTH;
    }
    return new SparseRows(T, byId.keySet().stream().mapToLong(Long::longValue).toArray(), values, 2);
  }

  /** Trains 20 steps with the examples cut among the trainers, then shrinks; returns the rows left, by id. */
  private Map<Long, Float> trained(int trainers, int shardCount, TableLife life, float[] shrunkBy) {
    List<ParameterShard> shards = new ArrayList<>();
    JobSpec job = job(Mode.SYNC, trainers, shardCount, life);
    List<ParameterClient> clients = clients(job, shards);
    int part = EXAMPLES / trainers;
    for (long step = 0; step < 20; step++) {
      List<CompletableFuture<?>> pushed = new ArrayList<>();
      for (int rank = 0; rank < trainers; rank++) {
        SparseRows rows = rows(step, rank * part, (rank + 1) * part);
        Values v = clients.get(rank).pull(step, false, List.of(new SparseIds(T, rows.ids())), false).join();
        pushed.add(clients.get(rank).push(step, part, v.versions(), null, List.of(rows)));
      }
      pushed.forEach(CompletableFuture::join);
    }
    Shrunk shrunk = clients.get(0).shrink(1, true).join();
    assertThat(clients.get(trainers - 1).shrink(1, true).join()).isEqualTo(shrunk); // repeated: nothing more
    shrunkBy[0] = shrunk.byScore();
    Map<Long, Float> left = new HashMap<>();
    clients.get(0).export(T, slice -> {
      for (int i = 0; i < slice.ids().length; i++) {
        assertThat(left.put(slice.ids()[i], slice.values()[i])).isNull();
      }
      return CompletableFuture.completedFuture(null);
    }).join();
    assertThat(shrunk.left()).isEqualTo(left.size());
    return left;
  }

  /** Counts of a round are sums: two trainers with half the examples each have the same as one with all. */
  @Test
  void countsAreSummedWhereGradientsAreAveraged() {
    // decay 1: scores are whole numbers, and a threshold between two of them parts the rows by exact counts
    float[] removed = new float[1];
    for (int threshold = 6; threshold <= 30; threshold += 6) {
      TableLife life = TableLife.counted().with(its -> its.decay(1).nonclickCoefficient(1).clickCoefficient(2))
          .withShrinkScore(threshold + 0.5f);
      Map<Long, Float> counts = byHand(threshold + 0.5f);
      Map<Long, Float> alone = trained(1, 1, life, removed);
      assertThat(alone.keySet()).isEqualTo(counts.keySet());
      float removedAlone = removed[0];
      Map<Long, Float> two = trained(2, 3, life, removed);
      assertThat(two.keySet()).isEqualTo(counts.keySet());
      assertThat(removed[0]).isEqualTo(removedAlone);
      alone.forEach((id, w) -> assertThat(two.get(id)).isCloseTo(w, org.assertj.core.api.Assertions.within(1e-5f)));
    }
    assertThat(byHand(6.5f).size()).isGreaterThan(byHand(30.5f).size());
  }

  /** Ids whose shows + clicks reach the threshold. */
  private static Map<Long, Float> byHand(float threshold) {
    Map<Long, Float> score = new HashMap<>();
    for (long step = 0; step < 20; step++) {
      SparseRows all = rows(step, 0, EXAMPLES);
      for (int i = 0; i < all.ids().length; i++) {
        score.merge(all.ids()[i], all.values()[i * WIDTH + 1] + all.values()[i * WIDTH + 2], Float::sum);
      }
    }
    score.values().removeIf(s -> s < threshold);
    return score;
  }

  @Test
  void aRowIsZerosUntilItHasBeenPulledOftenEnough() {
    List<ParameterShard> shards = new ArrayList<>();
    ParameterClient c = clients(job(Mode.ASYNC, 1, 2, TableLife.NONE.withAdmitCount(3)), shards).get(0);
    SparseIds wish = new SparseIds(T, new long[] {5, 6});
    SparseRows gradient = new SparseRows(T, new long[] {5, 6}, new float[] {1, 1});
    for (long step = 0; step < 2; step++) {
      Values v = c.pull(step, false, List.of(wish), false).join();
      assertThat(v.sparse().get(0).values()).containsExactly(0, 0);
      assertThat(c.read(false, List.of(wish)).join().sparse().get(0).values()).containsExactly(0, 0); // does not count
      c.push(step, 1, v.versions(), null, List.of(gradient)).join();
    }
    assertThat(exported(c)).isEmpty();
    float[] born = new float[2];
    InitializerSpec.uniform(-1, 1).fill(7, T, 5, born, 0, 1);
    InitializerSpec.uniform(-1, 1).fill(7, T, 6, born, 1, 1);
    Values third = c.pull(2, false, List.of(wish), false).join();
    assertThat(third.sparse().get(0).values()).containsExactly(born);
    c.push(2, 1, third.versions(), null, List.of(gradient)).join();
    assertThat(c.read(false, List.of(wish)).join().sparse().get(0).values()).containsExactly(born[0] - 1, born[1] - 1);
    long notAdmitted = 0;
    long dropped = 0;
    for (ParameterShard s : shards) {
      TableCounts counts = s.status("job").counts().get(T);
      notAdmitted += counts.notAdmittedPulls();
      dropped += counts.droppedGradients();
    }
    assertThat(notAdmitted).isEqualTo(4);
    assertThat(dropped).isEqualTo(4);
    assertThat(exported(c)).hasSize(2);
  }

  /**
   * The first trainer to pull makes no difference: within a step all trainers see the same rows, and an N-th step
   * admits.
   */
  @Test
  void inRoundsTheOrderOfPullsDoesNotMatter() {
    List<List<Float>> seen = new ArrayList<>();
    for (int first = 0; first < 2; first++) {
      List<Float> values = new ArrayList<>();
      List<ParameterClient> clients =
          clients(job(Mode.SYNC, 2, 1, TableLife.NONE.withAdmitCount(3)), new ArrayList<>());
      for (long step = 0; step < 4; step++) {
        List<CompletableFuture<?>> pushed = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
          ParameterClient c = clients.get((first + i) % 2);
          Values v = c.pull(step, false, List.of(new SparseIds(T, new long[] {5})), false).join();
          values.add(v.sparse().get(0).values()[0]);
        }
        for (ParameterClient c : clients) {
          pushed.add(c.push(step, 1, null, null, List.of(new SparseRows(T, new long[] {5}, new float[] {1}))));
        }
        pushed.forEach(CompletableFuture::join);
      }
      seen.add(values);
    }
    float[] born = new float[1];
    InitializerSpec.uniform(-1, 1).fill(7, T, 5, born, 0, 1);
    assertThat(seen.get(0)).containsExactly(0f, 0f, 0f, 0f, born[0], born[0], born[0] - 1, born[0] - 1);
    assertThat(seen.get(1)).isEqualTo(seen.get(0));
  }

  private static List<Long> exported(ParameterClient c) {
    List<Long> ids = new ArrayList<>();
    c.export(T, slice -> {
      Arrays.stream(slice.ids()).forEach(ids::add);
      return CompletableFuture.completedFuture(null);
    }).join();
    return ids;
  }

  /** Servers outlive a job, and hear the numbers of its next life, which begin anew. */
  @Test
  void theShrinksOfAJobsNextLifeAreNotTakenForThoseOfTheFormer() {
    List<ParameterShard> shards = new ArrayList<>();
    JobSpec job = job(Mode.ASYNC, 1, 1, TableLife.NONE.with(life -> life.shrinkUnseenDays(1).ttlSeconds(100)));
    ParameterClient first = clients(job, shards).get(0);
    first.pull(0, false, List.of(new SparseIds(T, new long[] {1})), false).join();
    assertThat(first.shrink(1, true).join()).isEqualTo(new Shrunk(0, 0, 0, 1));
    assertThat(first.shrink(2, true).join()).isEqualTo(new Shrunk(0, 1, 0, 0));
    first.leave(true).join();
    ParameterClient second = new ParameterClient(job, new TrainerId(0, 2), List.of(new LocalShardLink(shards.get(0))), Runnable::run);
    second.register().join();
    second.pull(0, false, List.of(new SparseIds(T, new long[] {7, 8})), false).join();
    assertThat(second.shrink(1, true).join()).isEqualTo(new Shrunk(0, 0, 0, 2));
    assertThat(second.shrink(2, true).join()).isEqualTo(new Shrunk(0, 2, 0, 0));
  }

  @Test
  void daysAndTimeToLiveRemoveWhatIsNotSeen() {
    List<ParameterShard> shards = new ArrayList<>();
    TableLife life = TableLife.NONE.with(its -> its.shrinkUnseenDays(1).ttlSeconds(100));
    ParameterClient c = clients(job(Mode.ASYNC, 1, 1, life), shards).get(0);
    c.pull(0, false, List.of(new SparseIds(T, new long[] {1, 2, 3})), false).join();
    assertThat(c.shrink(1, true).join()).isEqualTo(new Shrunk(0, 0, 0, 3));
    c.pull(0, false, List.of(new SparseIds(T, new long[] {1})), false).join();
    assertThat(c.shrink(2, false).join().removed()).isZero();
    assertThat(c.shrink(3, true).join()).isEqualTo(new Shrunk(0, 2, 0, 1));
    nowMillis += 101_000;
    assertThat(c.shrink(4, false).join()).isEqualTo(new Shrunk(0, 0, 1, 0));
    assertThat(c.shrink(4, false).join()).isEqualTo(new Shrunk(0, 0, 1, 0));
    c.pull(0, false, List.of(new SparseIds(T, new long[] {1})), false).join();
    TableCounts counts = shards.get(0).status("job").counts().get(T);
    assertThat(counts).isEqualTo(new TableCounts(4, 0, 0, 0, 2, 1, 0, 0, 4, 3 + 3 + 3 + 1, 0, 0));
  }

  @Test
  void eachShrinkTellsWhatItHasRemovedItself() {
    TableLife life = TableLife.counted().with(its -> its.decay(0.9f).shrinkScore(0.5f).ttlSeconds(100));
    ParameterClient c = clients(job(Mode.ASYNC, 1, 1, life), new ArrayList<>()).get(0);
    for (int shrink = 1; shrink <= 3; shrink++) { // of ids that nobody has clicked
      c.pull(0, false, List.of(new SparseIds(T, LongStream.range(0, shrink).toArray())), false).join();
      assertThat(c.shrink(shrink, false).join()).isEqualTo(new Shrunk(shrink, 0, 0, 0));
    }
    ParameterClient t = clients(job(Mode.ASYNC, 1, 1, TableLife.NONE.withTtlSeconds(100)), new ArrayList<>()).get(0);
    for (int shrink = 1; shrink <= 3; shrink++) {
      t.pull(0, false, List.of(new SparseIds(T, LongStream.range(0, shrink).toArray())), false).join();
      nowMillis += 101_000;
      assertThat(t.shrink(shrink, false).join()).isEqualTo(new Shrunk(0, 0, shrink, 0));
    }
  }

  @Test
  void shrinkKeepsLiveRows_whenTheWallClockJumps() {
    ParameterShard shard = new ParameterShard(0, ShardLimits.defaults(), TestClock.of(() -> wallMillis, () -> 0));
    shard.register(job(Mode.ASYNC, 1, 1, TableLife.NONE.withTtlSeconds(1000)), new TrainerId(0, 1), 0);
    pull(shard, 0, 3);
    wallMillis += YEAR_MILLIS;
    assertThat(shrunk(shard, 1)).isEqualTo(new Shrunk(0, 0, 0, 3));
    wallMillis -= 2 * YEAR_MILLIS;
    assertThat(shrunk(shard, 2)).isEqualTo(new Shrunk(0, 0, 0, 3));
  }

  private static Pulled pulled(ParameterShard shard, int rank, long step, long... ids) {
    Answer<Pulled> answer =
        Answer.to(shard.pull("job", new Pull(rank, step, false, List.of(new SparseIds(T, ids)), false)));
    return answer.value;
  }

  private static long notAdmitted(ParameterShard shard) {
    return shard.status("job").counts().get(T).notAdmittedPulls();
  }

  @Test
  void aPullCountsOnceForAdmission_whenItIsRepeated() {
    ParameterShard shard = new ParameterShard(0, ShardLimits.defaults(), TestClock.at(1));
    JobSpec job = job(Mode.ASYNC, 2, 1, TableLife.NONE.withAdmitCount(3));
    shard.register(job, new TrainerId(0, 1), 0);
    shard.register(job, new TrainerId(1, 1), 0);
    for (int repetition = 0; repetition < 5; repetition++) {
      assertThat(pulled(shard, 0, 0, 7, 8).sparse().get(0).values()).containsOnly(0);
    }
    assertThat(notAdmitted(shard)).isEqualTo(2);
    assertThat(pulled(shard, 0, 0, 8, 9).sparse().get(0).values()).as("other rows of the same step").containsOnly(0);
    assertThat(notAdmitted(shard)).isEqualTo(3);
    assertThat(pulled(shard, 1, 0, 7).sparse().get(0).values()).as("another trainer's").containsOnly(0);
    assertThat(pulled(shard, 0, 1, 7, 8, 9).sparse().get(0).values()).satisfies(v -> assertThat(v[0]).isNotZero())
        .satisfies(v -> assertThat(new float[] {v[1], v[2]}).containsOnly(0));
  }

  @Test
  void aPullThatIsStepsOldCountsForNothing() {
    ParameterShard shard = new ParameterShard(0, ShardLimits.defaults(), TestClock.at(1));
    shard.register(job(Mode.ASYNC, 1, 1, TableLife.NONE.withAdmitCount(100)), new TrainerId(0, 1), 0);
    for (int step = 0; step < CountedPulls.STEPS; step++) {
      pulled(shard, 0, step, 1);
    }
    pulled(shard, 0, 0, 1);
    assertThat(notAdmitted(shard)).isEqualTo(CountedPulls.STEPS);
    pulled(shard, 0, CountedPulls.STEPS, 1);
    pulled(shard, 0, 0, 1);
    pulled(shard, 0, 1, 1);
    assertThat(notAdmitted(shard)).isEqualTo(CountedPulls.STEPS + 1);
  }

  private static Shrunk shrunk(ParameterShard shard, long number) {
    Answer<Shrunk> answer = Answer.to(shard.shrink("job", new TrainerId(0, 1), number, false));
    return answer.value;
  }

  private ParameterShard shard(LaterTurns turns, TableLife life, ShardLimits limits) {
    ParameterShard shard = new ParameterShard(0, limits, TestClock.of(() -> wallMillis, () -> nowMillis), turns);
    shard.register(job(Mode.ASYNC, 1, 1, life), new TrainerId(0, 1), 0);
    return shard;
  }

  private static Answer<Pulled> pull(ParameterShard shard, long from, long n) {
    return Answer.to(shard.pull("job",
        new Pull(0, 0, false, List.of(new SparseIds(T, LongStream.range(from, from + n).toArray())), false)));
  }

  @Test
  void aShrinkTakesTurnsAndAnExportUnderWayMeetsNoRowTwice() {
    LaterTurns turns = new LaterTurns();
    ParameterShard shard = shard(turns, TableLife.NONE.withTtlSeconds(100), ShardLimits.defaults());
    pull(shard, 0, 300_000);
    turns.runAll();
    RowCursor cursor = shard.rowCursor("job", T);
    Map<Long, Float> met = new HashMap<>();
    take(cursor, 100_000, met);
    nowMillis += 60_000;
    pull(shard, 200_000, 100_000);
    turns.runAll();
    nowMillis += 60_000;
    DigestCursor digest = shard.digestCursor("job");
    Answer<Shrunk> first = Answer.to(shard.shrink("job", new TrainerId(0, 1), 1, false));
    Answer<Shrunk> again = Answer.to(shard.shrink("job", new TrainerId(0, 1), 1, false));
    int value = 0;
    while (first.value == null) {
      assertThat(digest.advance(1_000_000)).isTrue(); // held: no digest of half a shrink
      assertThat(turns.poll()).isNotNull().satisfies(Runnable::run);
      value++;
    }
    assertThat(value).isGreaterThan(5);
    assertThat(first.value).isEqualTo(new Shrunk(0, 0, 200_000, 100_000));
    assertThat(again.value).isEqualTo(first.value);
    pull(shard, 0, 150_000); // born again, in the places of the removed
    turns.runAll();
    while (take(cursor, 10_000, met)) { }
    assertThat(LongStream.range(200_000, 300_000).allMatch(met::containsKey)).isTrue();
    assertThat(shard.status("job").counts().get(T).births()).isEqualTo(450_000);
  }

  private static boolean take(RowCursor cursor, int rows, Map<Long, Float> met) {
    SparseRows slice = cursor.next(rows);
    for (int i = 0; slice != null && i < slice.ids().length; i++) {
      assertThat(met.put(slice.ids()[i], slice.values()[i])).as("row met twice").isNull();
    }
    return slice != null;
  }

  @Test
  void atALimitRowsAreRefusedOrMakeRoom() {
    LaterTurns turns = new LaterTurns();
    ParameterShard refuses = shard(turns, TableLife.counted(), new ShardLimits(1, 4, 64, 1000, 0, false));
    assertThat(pull(refuses, 0, 1000).value).isNotNull();
    assertThat(pull(refuses, 1000, 1).error).isInstanceOf(Overloaded.class);
    assertThat(refuses.status("job").refused()).isEqualTo(1);

    long bytes = 1000 * 50L; // a row: a value, 6 columns and an id, 36 bytes, and 10 of the index
    for (ShardLimits limits : List.of(new ShardLimits(1, 4, 64, 1000, 0, true),
        new ShardLimits(1, 4, 64, 1_000_000, bytes, true))) {
      ParameterShard evicts = shard(turns, TableLife.counted(), limits);
      for (int day = 0; day < 20; day++) {
        nowMillis += 1000;
        Answer<Pulled> pulled = pull(evicts, day * 500L, 500);
        turns.runAll();
        assertThat(pulled.value).isNotNull();
        assertThat(evicts.status("job").rows().get(T)).isBetween(500L, 1100L);
      }
      assertThat(evicts.status("job").counts().get(T).evicted()).isGreaterThan(8000);
      assertThat(evicts.status("job").refused()).isZero();
    }
    ParameterShard untracked = shard(turns, TableLife.NONE, new ShardLimits(1, 4, 64, 1000, 0, true));
    assertThat(pull(untracked, 0, 1001).error).isInstanceOf(Overloaded.class);
  }

  @Test
  void geoKeepsNoStatistics() {
    ParameterShard shard = new ParameterShard(0, ShardLimits.defaults(), TestClock.of(() -> nowMillis));
    assertThatThrownBy(() -> shard.register(job(Mode.GEO, 1, 1, TableLife.counted()), new TrainerId(0, 1), 0))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("geo");
  }
}
