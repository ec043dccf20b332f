package io.regatta.core.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.model.TableLife;
import io.regatta.core.optim.OptimizerSpec;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class TableSnapshotTest {

  private static final int DIM = 3;
  private static final int IDS = 5000;
  private static final TableLife TRACKED = TableLife.counted()
      .with(life -> life.decay(0.5f).admitCount(2).shrinkScore(0.2f).shrinkUnseenDays(3));

  private static SparseTable table(TableLife life) {
    return new SparseTable(1, new SparseTableSpec("t", DIM, InitializerSpec.uniform(-1, 1), OptimizerSpec.of("adagrad", 0.1), life),
        false, () -> 1000);
  }

  /** All whole rows as they are now. */
  private static Map<Long, float[]> copy(SparseTable t) {
    Map<Long, float[]> all = new HashMap<>();
    int width = t.layout().width();
    for (int s = 0; s < SparseTable.SEGMENTS; s++) {
      for (int row = 0; row < t.rows(s); row++) {
        if (t.segmentAt(s).holds(row)) {
          float[] slab = t.segmentAt(s).slab(row);
          int off = t.segmentAt(s).offset(row);
          all.put(t.id(s, row), Arrays.copyOfRange(slab, off, off + width));
        }
      }
    }
    return all;
  }

  private static long[] draw(Random random, int most) {
    return random.longs(1 + random.nextInt(most), 0, IDS).distinct().toArray();
  }

  /** Changes a table as training does: rows are created, change, age and are removed. */
  private static void train(SparseTable t, Random random) {
    long[] ids = draw(random, 200);
    float[] gradients = new float[ids.length * t.spec().pushWidth()];
    Arrays.fill(gradients, random.nextFloat());
    switch (random.nextInt(t.layout().tracked() ? 5 : 3)) {
      case 0 -> t.pull(ids);
      case 1 -> t.update(ids, gradients, 0.1f, 1);
      case 2 -> t.add(ids, new float[ids.length * DIM]);
      case 3 -> {
        int segment = random.nextInt(SparseTable.SEGMENTS);
        t.shrink(segment, 0, t.rows(segment), t.mark(), true);
      }
      default -> t.evict();
    }
  }

  private static Map<Long, float[]> walk(TableSnapshot snapshot, SparseTable t, Random random) {
    RowWalk walk = snapshot.rows();
    Map<Long, float[]> got = new HashMap<>();
    int room = walk.leastRoom();
    long[] ids = new long[room];
    float[] floats = new float[room * walk.width()];
    train(t, random);
    for (int n = walk.next(ids, floats); n > 0; n = walk.next(ids, floats)) {
      for (int i = 0; i < n; i++) {
        assertThat(got.put(ids[i], Arrays.copyOfRange(floats, i * walk.width(), (i + 1) * walk.width()))).isNull();
      }
      for (int k = 0; k < 3; k++) {
        train(t, random);
      }
    }
    assertThat((long) got.size()).isEqualTo(walk.rows());
    return got;
  }

  private static void assertSame(Map<Long, float[]> actual, Map<Long, float[]> expected) {
    assertThat(actual.keySet().equals(expected.keySet())).isTrue();
    expected.forEach((id, row) -> { // by bits: some columns are integers
      for (int i = 0; i < row.length; i++) {
        assertThat(Float.floatToRawIntBits(actual.get(id)[i])).isEqualTo(Float.floatToRawIntBits(row[i]));
      }
    });
  }

  @Property(tries = 30)
  void a_walk_gives_the_rows_as_they_were_when_it_began_whatever_happens_meanwhile(@ForAll long seed, @ForAll boolean tracked) {
    Random random = new Random(seed);
    SparseTable t = table(tracked ? TRACKED : TableLife.NONE);
    for (int i = 0; i < 60; i++) {
      train(t, random);
    }
    Map<Long, float[]> before = copy(t);
    TableSnapshot snapshot = TableSnapshot.take(t, TableSnapshot.Scope.ALL, 1 << 30);
    assertSame(walk(snapshot, t, random), before);
    snapshot.end(true);
    assertThat(t.watch).isNull();
  }

  /** Base and deltas, put one on the other, are the table at the last one; what a failed delta was to hold is not lost. */
  @Property(tries = 30)
  void deltas_hold_what_has_changed_since_the_last(@ForAll long seed, @ForAll boolean tracked) {
    Random random = new Random(seed);
    SparseTable t = table(tracked ? TRACKED : TableLife.NONE);
    for (int i = 0; i < 40; i++) {
      train(t, random);
    }
    assertThat(TableSnapshot.isNoted(t)).isFalse();
    TableSnapshot base = TableSnapshot.take(t, TableSnapshot.Scope.BASE, 1 << 30);
    Map<Long, float[]> merged = walk(base, t, random);
    base.end(true);
    for (int d = 0; d < 5; d++) {
      train(t, random);
      Map<Long, float[]> expected = copy(t);
      TableSnapshot delta = TableSnapshot.take(t, TableSnapshot.Scope.DELTA, 1 << 30);
      Map<Long, float[]> changed = walk(delta, t, random);
      boolean saved = random.nextBoolean();
      delta.end(saved);
      if (saved) {
        Arrays.stream(delta.removed(), 0, delta.removedCount()).forEach(merged::remove);
        merged.putAll(changed);
        assertSame(merged, expected);
      }
    }
  }

  @Test
  void a_walk_over_a_table_that_changes_faster_than_it_is_fetched_gives_up() {
    SparseTable t = table(TableLife.NONE);
    long[] ids = new Random(1).longs(4000).toArray();
    t.pull(ids);
    TableSnapshot snapshot = TableSnapshot.take(t, TableSnapshot.Scope.ALL, 10_000);
    t.update(ids, new float[ids.length * DIM], 0.1f, 1);
    assertThatThrownBy(() -> snapshot.rows().next(new long[10_000], new float[100_000])).isInstanceOf(Overloaded.class)
        .hasMessageContaining("snapshot_bytes");
    snapshot.end(false);
    assertThat(t.watch).isNull();
  }

  @Test
  void restored_rows_are_those_that_were_saved() {
    for (TableLife life : new TableLife[] {TableLife.NONE, TRACKED}) {
      SparseTable t = table(life);
      Random random = new Random(4);
      for (int i = 0; i < 60; i++) {
        train(t, random);
      }
      Map<Long, float[]> before = copy(t);
      SparseTable other = table(life);
      before.forEach((id, row) -> other.restore(id, row, 0));
      Map<Long, float[]> after = copy(other);
      assertThat(new TreeSet<>(after.keySet())).isEqualTo(new TreeSet<>(before.keySet()));
      int same = t.layout().width() - (life.isTracked() ? 1 : 0); // but for the number of its birth
      before.forEach((id, row) -> assertThat(Arrays.equals(after.get(id), 0, same, row, 0, same)).isTrue());
    }
  }

  @Test
  void more_rows_have_gone_than_are_noted_and_the_next_base_notes_anew() {
    SparseTable t = table(TableLife.NONE);
    TableSnapshot.take(t, TableSnapshot.Scope.BASE, Long.MAX_VALUE).end(true);
    for (int i = 0; i <= ChangedRowSet.REMOVED_MAX; i++) {
      t.watch.changed.removed(0, 0, i);
    }
    assertThat(TableSnapshot.isNoted(t)).isFalse();
    assertThat(t.watch.changed.removedIds()).isEmpty();
    assertThatThrownBy(() -> TableSnapshot.take(t, TableSnapshot.Scope.DELTA, 0)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("take a base");
    TableSnapshot.take(t, TableSnapshot.Scope.BASE, Long.MAX_VALUE).end(true);
    assertThat(TableSnapshot.isNoted(t)).isTrue();
  }
}
