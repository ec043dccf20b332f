package io.regatta.core.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.hash.Mix64;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.model.ParameterHash;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.model.TableLife;
import io.regatta.core.optim.Adagrad;
import io.regatta.core.optim.Momentum;
import io.regatta.core.optim.OptimizerSpec;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import java.util.stream.LongStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/**
 * Tests of a tracked table against a plain map of rows: creation, admission, updates, removal, repeated creation, and
 * growth.
 */
class TableLifeTest {

  private static final long SEED = 3;
  private static final int DIM = 3;
  private static final long ADMISSION_KEY = Mix64.mix(InitializerSpec.tableKey(SEED, "t") ^ 0x61646d6974L);
  private static final OptimizerSpec MOMENTUM = OptimizerSpec.of(new Momentum(0.5f, false), 1);

  private static final class Row {
    final float[] w = new float[DIM];
    final float[] v = new float[DIM];
    float show;
    float click;
    int pulls;
    boolean admitted;
    int unseen;
    long seen;
  }

  /** The model of the table, as a plain map. */
  private static final class Plain {
    final SparseTableSpec spec;
    final boolean rounds;
    final Map<Long, Row> rows = new TreeMap<>();
    long births;
    long notAdmitted;
    long dropped;
    long byScore;
    long unseen;
    long expired;
    long admitted;
    long aged;

    Plain(SparseTableSpec spec, boolean rounds) {
      this.spec = spec;
      this.rounds = rounds;
    }

    void pull(long id, long now) {
      Row r = rows.computeIfAbsent(id, i -> {
        births++;
        Row born = new Row();
        if (!spec.life().admits()) {
          admit(i, born);
        }
        return born;
      });
      r.unseen = 0;
      r.seen = now;
      if (!r.admitted && r.pulls + 1 >= spec.life().admitCount()) {
        admit(id, r);
        admitted++;
      }
      r.pulls += rounds ? 0 : 1;
      notAdmitted += r.admitted ? 0 : 1;
    }

    private void admit(long id, Row r) {
      r.admitted = true;
      spec.initializer().fill(SEED, spec.name(), id, r.w, 0, DIM);
    }

    void push(long id, float[] g, int at, long now) {
      if (!rows.containsKey(id) && !spec.life().admits()) {
        births++;
        Row born = new Row();
        born.seen = now;
        admit(id, born);
        rows.put(id, born);
      }
      Row r = rows.get(id);
      if (r != null) {
        r.show += g[at + DIM];
        r.click += g[at + DIM + 1];
        r.pulls += rounds ? 1 : 0;
      }
      if (r == null || !r.admitted) {
        dropped++;
        return;
      }
      for (int k = 0; k < DIM; k++) {
        r.v[k] = 0.5f * r.v[k] + g[at + k];
        r.w[k] -= r.v[k];
      }
    }

    void shrink(boolean endOfDay, long now) {
      TableLife l = spec.life();
      rows.values().removeIf(r -> {
        aged++;
        r.show *= l.decay();
        r.click *= l.decay();
        r.unseen += endOfDay ? 1 : 0;
        if (now - r.seen > l.ttlSeconds()) {
          expired++;
        } else if (r.unseen > l.shrinkUnseenDays()) {
          unseen++;
        } else if ((r.show - r.click) * l.nonclickCoefficient() + r.click * l.clickCoefficient() < l.shrinkScore()) {
          byScore++;
        } else {
          return false;
        }
        return true;
      });
    }
  }

  @Property(tries = 150)
  void behavesLikeAMapOfRows(@ForAll long seed, @ForAll @IntRange(max = 3) int admitCount, @ForAll boolean rounds,
      @ForAll @IntRange(min = 20, max = 30_000) int ids) {
    TableLife life = TableLife.counted()
        .with(its -> its.decay(0.9f).admitCount(admitCount).shrinkScore(0.15f).shrinkUnseenDays(2).ttlSeconds(400));
    SparseTableSpec spec = new SparseTableSpec("t", DIM, InitializerSpec.uniform(-1, 1), MOMENTUM, life);
    long[] now = {1_000_000};
    SparseTable table = new SparseTable(SEED, spec, rounds, () -> now[0] * 1000);
    Plain plain = new Plain(spec, rounds);
    Random random = new Random(seed);
    for (int action = 0; action < 40; action++) {
      long first = random.nextInt(ids) - 10L;
      long[] some = LongStream.range(first, first + random.nextInt(Math.min(ids, 800))).map(i -> i * i * i).distinct()
          .toArray();
      switch (random.nextInt(8)) {
        case 0 -> {
          shrink(table, action % 3 > 0);
          plain.shrink(action % 3 > 0, now[0]);
        }
        case 1 -> now[0] += random.nextInt(300);
        case 2, 3, 4 -> {
          table.pull(some);
          Arrays.stream(some).forEach(id -> plain.pull(id, now[0]));
        }
        default -> {
          float[] g = new float[some.length * (DIM + 2)];
          for (int i = 0; i < g.length; i++) {
            g[i] = random.nextInt(3);
          }
          table.update(some, g, 1, 1);
          for (int i = 0; i < some.length; i++) {
            plain.push(some[i], g, i * (DIM + 2), now[0]);
          }
        }
      }
    }
    check(table, plain);
  }

  private static void check(SparseTable table, Plain plain) {
    assertThat(table.size()).isEqualTo(plain.rows.size());
    long[] ids = plain.rows.keySet().stream().mapToLong(Long::longValue).toArray();
    assertThat(Arrays.stream(table.ids()).sorted().toArray()).isEqualTo(ids);
    assertThat(table.missing(ids)).isZero();
    float[] read = table.read(ids);
    long digest = 0;
    int i = 0;
    for (Map.Entry<Long, Row> e : plain.rows.entrySet()) {
      assertThat(Arrays.copyOfRange(read, i * DIM, ++i * DIM)).containsExactly(e.getValue().w);
      digest += e.getValue().admitted ? ParameterHash.row("t", e.getKey(), e.getValue().w, 0, DIM) : 0;
    }
    assertThat(digest(table)).isEqualTo(digest);
    Map<Long, float[]> whole = whole(table);
    assertThat(whole.keySet()).isEqualTo(plain.rows.keySet());
    whole.forEach((id, floats) -> {
      Row r = plain.rows.get(id);
      assertThat(Arrays.copyOfRange(floats, DIM, 2 * DIM + 2))
          .containsExactly(r.v[0], r.v[1], r.v[2], r.show, r.click);
    });
    assertThat(table.counts()).isEqualTo(new TableCounts(plain.births, plain.notAdmitted, plain.dropped, plain.byScore,
        plain.unseen, plain.expired, 0, plain.admitted, 0, plain.aged, 0, 0));
  }

  /** A saved row comes back as it was, in a table that has never seen it and in one that has. */
  @Test
  void wholeRowsGoFromTableToTable() {
    TableLife life = TableLife.counted().withAdmitCount(2);
    SparseTableSpec spec = new SparseTableSpec("t", DIM, InitializerSpec.uniform(-1, 1), MOMENTUM, life);
    SparseTable from = new SparseTable(SEED, spec, false, () -> 5_000_000);
    long[] ids = LongStream.range(0, 500).toArray();
    from.pull(ids);
    from.pull(LongStream.range(0, 300).toArray());
    float[] g = new float[500 * (DIM + 2)];
    Arrays.fill(g, 1);
    from.update(ids, g, 1, 1);
    SparseTable to = new SparseTable(SEED, spec, false, () -> 9_000_000);
    to.pull(LongStream.range(0, 100).toArray());
    whole(from).forEach((id, floats) -> to.restore(id, floats, 0));
    assertThat(to.size()).isEqualTo(500);
    assertThat(to.counts().restored()).isEqualTo(500);
    assertThat(digest(to)).isEqualTo(digest(from));
    from.update(ids, g, 1, 2);
    to.update(ids, g, 1, 2);
    assertThat(digest(to)).isEqualTo(digest(from)); // the slots have come along
  }

  /** Random admission of a row is a function of its id and pull: the same in any order and on any shards. */
  @Test
  void admissionByChanceIsAFunctionOfIdAndPull() {
    TableLife life = TableLife.NONE.withAdmitProbability(0.3f);
    SparseTableSpec spec = new SparseTableSpec("t", 1, InitializerSpec.uniform(1, 2), OptimizerSpec.sgd(1), life);
    SparseTable one = new SparseTable(SEED, spec);
    SparseTable[] two = {new SparseTable(SEED, spec), new SparseTable(SEED, spec)};
    long[] ids = LongStream.range(0, 20_000).toArray();
    for (int pull = 1; pull <= 3; pull++) {
      float[] rows = one.pull(ids);
      for (int shard = 0; shard < 2; shard++) {
        int half = shard;
        two[half].pull(LongStream.range(0, 20_000).map(i -> 19_999 - i).filter(i -> i % 2 == half).toArray());
      }
      double admitted = 0;
      for (int i = 0; i < ids.length; i++) {
        assertThat(two[i % 2].read(new long[] {ids[i]})[0]).isEqualTo(rows[i]);
        admitted += rows[i] > 0 ? 1 : 0;
      }
      // 1 - 0.7^pull of them; 20,000 draws stray by 0.0034
      assertThat(admitted / ids.length).isBetween(1 - Math.pow(0.7, pull) - 0.02, 1 - Math.pow(0.7, pull) + 0.02);
    }
    assertThat(one.read(new long[] {-1})[0]).isZero();
    assertThat(one.counts().notAdmittedPulls()).isBetween(30_000L, 31_500L); // 20,000 (0.7 + 0.49 + 0.343)
  }

  /** Ids made for their draws: one of exactly the probability does not admit, the next lower one does. */
  @Test
  void admissionByChanceComparesTheHashOfIdAndPullWithTheProbability() {
    TableLife life = TableLife.NONE.withAdmitProbability(0.5f);
    SparseTableSpec spec = new SparseTableSpec("t", 1, InitializerSpec.uniform(1, 2), OptimizerSpec.sgd(1), life);
    for (int pull = 1; pull <= 2; pull++) {
      long[] ids = {idDrawing(1L << 52, pull), idDrawing((1L << 52) - 1, pull)};
      SparseTable table = new SparseTable(SEED, spec);
      for (int i = 1; i < pull; i++) {
        assertThat(table.pull(ids)).as("drawn so that they are not admitted before").containsExactly(0, 0);
      }
      float[] values = table.pull(ids);
      assertThat(values[0]).isZero();
      assertThat(values[1]).isGreaterThanOrEqualTo(1);
    }
  }

  /** An id whose draw at a pull is this number of 53 bits, and above one half at each pull before. */
  private static long idDrawing(long draw, int pull) {
    long inverse = 1; // of an odd number, by Newton's iteration: each step doubles the bits that are right
    for (int i = 0; i < 6; i++) {
      inverse *= 2 - Mix64.GOLDEN * inverse;
    }
    for (long low = 0; low < 1 << 11; low++) {
      long word = SparseSegmentTest.unmix(draw << 11 | low);
      long id = (SparseSegmentTest.unmix(word - Mix64.GOLDEN * pull) - ADMISSION_KEY) * inverse;
      if (LongStream.range(1, pull).allMatch(p -> draw(id, p) > 1L << 52)) {
        return id;
      }
    }
    throw new AssertionError("none of 2048 ids");
  }

  private static long draw(long id, long pull) {
    return Mix64.mix(Mix64.mix(ADMISSION_KEY + Mix64.GOLDEN * id) + Mix64.GOLDEN * pull) >>> 11;
  }

  @Test
  void pullsAreCountedOneByOne_outsideOfRoundsWhereRowsAreAdmittedLater() {
    TableLife admits = TableLife.NONE.withAdmitCount(2);
    assertThat(life(admits, false).countsPulls()).isTrue();
    assertThat(life(admits, true).countsPulls()).isFalse();
    assertThat(life(TableLife.counted(), false).countsPulls()).isFalse();
    assertThat(life(TableLife.NONE, false).countsPulls()).isFalse();
  }

  private static SparseTable life(TableLife life, boolean rounds) {
    return new SparseTable(SEED, new SparseTableSpec("t", DIM, InitializerSpec.uniform(-1, 1), MOMENTUM, life), rounds,
        () -> 0);
  }

  @Test
  void assignedRowsAreAdmitted_withFreshSlotsAndWithoutPulls() {
    OptimizerSpec adagrad = OptimizerSpec.of(new Adagrad(1, 3), 1);
    SparseTable table = new SparseTable(SEED, new SparseTableSpec("t", 2, InitializerSpec.uniform(-1, 1), adagrad,
        TableLife.counted().withAdmitCount(3)));
    table.assign(7, new float[] {5, 6}, 0);
    table.assign(7, new float[] {0, 8, 9}, 1);
    assertThat(whole(table).get(7L)).containsExactly(8, 9, 3, 3, 0, 0, Float.intBitsToFloat(1 << 31), 0, 0, 0);
    assertThat(table.counts().restored()).isEqualTo(2);
    assertThat(table.counts().admitted()).isZero();
    assertThat(table.pull(new long[] {7, 8})).containsExactly(8, 9, 0, 0);
  }

  @Test
  void rowsThatAreNotThereAreReadAsZeros_whereRowsAreAdmittedLater() {
    SparseTable table = life(TableLife.NONE.withAdmitCount(2), false);
    float[] out = new float[3 * DIM];
    Arrays.fill(out, 7);
    table.read(new long[] {1, 2, 3}, 1, 2, out);
    assertThat(out).containsExactly(7, 7, 7, 0, 0, 0, 7, 7, 7);
  }

  @Test
  void nothingIsRemoved_whereNoLimitIsSet() {
    long[] now = {0};
    SparseTable table = new SparseTable(SEED, new SparseTableSpec("t", 1, InitializerSpec.zeros(), OptimizerSpec.sgd(1),
        TableLife.counted()), false, () -> now[0]);
    table.pull(new long[] {1, 2});
    now[0] += 1_000_000;
    shrink(table, true);
    assertThat(table.size()).isEqualTo(2);
  }

  @Test
  void rowsGo_whenTheirLimitsAreExceededAndNotWhenTheyAreReached() {
    long[] now = {0};
    SparseTable byTime = tracked(() -> now[0]);
    byTime.pull(new long[] {1});
    now[0] += 100_000;
    assertThat(removed(byTime, byTime.mark())).as("exactly its time to live").isZero();
    now[0] += 1_000;
    assertThat(removed(byTime, byTime.mark())).isEqualTo(1);

    SparseTable byDays = life(TableLife.NONE.withShrinkUnseenDays(1), false);
    byDays.pull(new long[] {1});
    shrink(byDays, true);
    assertThat(byDays.size()).as("one day unseen").isEqualTo(1);
    shrink(byDays, true);
    assertThat(byDays.size()).isZero();
  }

  @Test
  void nothingIsEvictedFromAnEmptyTable() {
    SparseTable table = life(TableLife.counted(), false);
    assertThat(table.evict()).isFalse();
    assertThat(table.size()).isZero();
    assertThat(table.counts().evicted()).isZero();
  }

  @Test
  void whoHasBeenSeenLongestAgoIsEvicted() {
    long[] now = {1_000};
    SparseTableSpec spec = new SparseTableSpec("t", 1, InitializerSpec.zeros(), OptimizerSpec.sgd(1),
        TableLife.counted());
    SparseTable table = new SparseTable(SEED, spec, false, () -> now[0] * 1000);
    table.pull(LongStream.range(0, 10_000).toArray());
    now[0]++;
    table.pull(LongStream.range(5_000, 10_000).toArray());
    for (int i = 0; i < 4_000; i++) {
      assertThat(table.evict()).isTrue();
    }
    assertThat(table.size()).isEqualTo(6_000);
    assertThat(table.counts().evicted()).isEqualTo(4_000);
    // five draws miss the older rows with odds of (5/6)^5, 0.4, when 1,000 of them are left, and far lower ones before
    assertThat(table.missing(LongStream.range(5_000, 10_000).toArray())).isLessThan(600);
    while (table.size() > 100) { // of 10,000 places
      assertThat(table.evict()).isTrue();
    }
    assertThat(table.pull(new long[] {7})).containsExactly(0);
  }

  /** A counter of rows would pass 2^31 within days, and the oldest rows would seem the newest. */
  @Test
  void marksCountWalks_howeverManyRowsAreCreated() {
    SparseTable table = tracked(() -> 0);
    int before = table.mark();
    table.pull(LongStream.range(0, 1000).toArray());
    int after = table.mark();
    table.pull(new long[] {-1});
    assertThat(after - before).isEqualTo(1);
    assertThat(seen(table, before)).isZero();
    assertThat(seen(table, after)).isEqualTo(1000);
    assertThat(seen(table, table.mark())).isEqualTo(1001);
  }

  @Test
  void shrinkLeavesOut_whatWasCreatedSinceItBegan() {
    long[] now = {0};
    SparseTable table = tracked(() -> now[0]);
    table.pull(new long[] {1, 2});
    now[0] += 101_000;
    int mark = table.mark();
    table.pull(new long[] {3});
    now[0] += 100_000;
    assertThat(removed(table, mark)).isEqualTo(2);
    assertThat(table.missing(new long[] {1, 2, 3})).isEqualTo(2);
    now[0] += 1_000;
    assertThat(removed(table, table.mark())).isEqualTo(1);
  }

  @Test
  void trainingClockContinuesWithTheLatestRestoredRow() {
    SparseTable saved = tracked(() -> 1_700_000_000_000L);
    saved.pull(new long[] {1});
    float[] floats = whole(saved).get(1L);
    int seen = saved.layout().life() + RowLayout.SEEN;
    long[] now = {5_000};
    SparseTable table = tracked(() -> now[0]);
    floats[seen] = Float.intBitsToFloat(1_700_000_000);
    table.restore(1, floats, 0);
    floats[seen] = Float.intBitsToFloat(1_700_000_030);
    table.restore(2, floats, 0);
    floats[seen] = Float.intBitsToFloat(1_699_999_960);
    table.restore(3, floats, 0);
    now[0] += 50_000;
    table.pull(new long[] {4});
    assertThat(removed(table, table.mark())).as("row 3 is 120 s old").isEqualTo(1);
    assertThat(table.missing(new long[] {1, 2, 3, 4})).isEqualTo(1);
    now[0] += 25_000;
    assertThat(removed(table, table.mark())).as("row 1 is 105 s old").isEqualTo(1);
    now[0] += 26_000;
    assertThat(removed(table, table.mark())).as("row 2 is 101 s old").isEqualTo(1);
    assertThat(table.missing(new long[] {4})).isZero();
  }

  /** Rows live for 100 s. */
  private static SparseTable tracked(LongSupplier monotonicMillis) {
    return new SparseTable(SEED, new SparseTableSpec("t", 1, InitializerSpec.zeros(), OptimizerSpec.sgd(1),
        TableLife.NONE.withTtlSeconds(100)), false, monotonicMillis);
  }

  private static int removed(SparseTable table, int mark) {
    int removed = 0;
    for (int s = 0; s < SparseTable.SEGMENTS; s++) {
      removed += table.shrink(s, 0, table.rows(s), mark, false);
    }
    return removed;
  }

  private static int seen(SparseTable table, int mark) {
    int seen = 0;
    for (int s = 0; s < SparseTable.SEGMENTS; s++) {
      seen += table.copy(s, 0, table.rows(s), mark, new long[table.rows(s)], new float[table.rows(s)]);
    }
    return seen;
  }

  @Test
  void aTableWithoutALifeHasNoColumnsForOne() {
    SparseTableSpec spec = new SparseTableSpec("t", DIM, InitializerSpec.zeros(), MOMENTUM);
    SparseTable table = new SparseTable(SEED, spec);
    assertThat(table.layout().width()).isEqualTo(2 * DIM);
    table.pull(new long[] {1, 2});
    shrink(table, true);
    assertThat(table.evict()).isFalse();
    assertThat(table.size()).isEqualTo(2);
  }

  @Test
  void whatMakesNoSenseIsRefusedByName() {
    assertThatThrownBy(() -> TableLife.NONE.withShrinkScore(1)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("shrink_score").hasMessageContaining("statistics");
    assertThatThrownBy(() -> TableLife.NONE.with(life -> life.admitCount(2).admitProbability(0.5f))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("admit_probability");
  }

  private static void shrink(SparseTable table, boolean endOfDay) {
    for (int s = 0; s < SparseTable.SEGMENTS; s++) {
      int half = table.rows(s) / 2;
      table.shrink(s, 0, half, table.mark(), endOfDay);
      table.shrink(s, half, table.rows(s), table.mark(), endOfDay);
    }
  }

  private static Map<Long, float[]> whole(SparseTable table) {
    int width = table.layout().width();
    Map<Long, float[]> rows = new HashMap<>();
    for (int s = 0; s < SparseTable.SEGMENTS; s++) {
      SparseSegment segment = table.segmentAt(s);
      for (int row = 0; row < segment.size(); row++) {
        if (segment.holds(row)) {
          int off = segment.offset(row);
          assertThat(rows.put(segment.id(row), Arrays.copyOfRange(segment.slab(row), off, off + width))).isNull();
        }
      }
    }
    return rows;
  }

  private static long digest(SparseTable table) {
    long sum = 0;
    for (int s = 0; s < SparseTable.SEGMENTS; s++) {
      sum += table.digest(s, 0, table.rows(s));
    }
    return sum;
  }

  /**
   * Rows seen at the same time are evicted by the lowest score among five: seldom one of the half with the higher
   * score.
   */
  @Test
  void whoeverHasTheLowestScoreIsEvicted_amongRowsSeenAtTheSameTime() {
    SparseTable table = new SparseTable(SEED, new SparseTableSpec("t", 1, InitializerSpec.zeros(), OptimizerSpec.sgd(1),
        TableLife.counted()), false, () -> 5_000);
    long[] ids = LongStream.range(0, 10_000).toArray();
    table.pull(ids);
    float[] shown = new float[3 * 5_000];
    for (int i = 0; i < 5_000; i++) {
      shown[3 * i + 1] = 1;
    }
    table.update(Arrays.copyOfRange(ids, 5_000, 10_000), shown, 1, 1);
    for (int i = 0; i < 2_000; i++) {
      table.evict();
    }
    // five draws miss the lower half with odds of 1 to 32 at first, and of (5/8)^5, 0.1, at the end
    assertThat(table.missing(Arrays.copyOfRange(ids, 5_000, 10_000))).isBetween(1, 300);
  }

  @Test
  void victimsAreDrawnFromTheWholeOfASegment() {
    SparseTable table = life(TableLife.counted(), false);
    long[] ids = LongStream.range(0, 25_600).toArray();
    table.pull(ids);
    for (int i = 0; i < 2_000; i++) {
      table.evict();
    }
    assertThat(table.missing(ids)).isEqualTo(2_000);
    assertThat(table.missing(Arrays.copyOf(ids, 12_800))).as("of the older half").isBetween(800, 1_200);
  }
}
