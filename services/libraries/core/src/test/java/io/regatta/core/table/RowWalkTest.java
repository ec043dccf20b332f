package io.regatta.core.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerSpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Walks over wide rows, of which a slice and a page of copies hold four: what changes between two slices. */
class RowWalkTest {

  private static final int DIM = 4096;
  private static final int SLICE = 4;
  private static final long ROW_BYTES = 4L * DIM;

  private final SparseTable table = new SparseTable(1, new SparseTableSpec("wide", DIM, InitializerSpec.zeros(),
      OptimizerSpec.sgd(1)));
  private final List<Long> got = new ArrayList<>();
  private final long[] ids = new long[SLICE];
  private final float[] floats = new float[SLICE * DIM];

  /** Ids of one segment. */
  private static long[] ofSegment(int segment, int n) {
    return LongStream.iterate(0, id -> id + 1).filter(id -> SparseTable.hash(id) >>> 56 == segment).limit(n).toArray();
  }

  private RowWalk walk(long keptMax) {
    return TableSnapshot.take(table, TableSnapshot.Scope.ALL, keptMax).rows();
  }

  /** Every row is as it was when the walk began: all zeros. */
  private int fetch(RowWalk walk) {
    int n = walk.next(ids, floats);
    for (int i = 0; i < n; i++) {
      got.add(ids[i]);
      assertThat(floats[i * DIM]).isZero();
      assertThat(floats[(i + 1) * DIM - 1]).isZero();
    }
    return n;
  }

  private void change(long... changed) {
    float[] ones = new float[changed.length * DIM];
    Arrays.fill(ones, 1);
    table.add(changed, ones);
  }

  @Test
  void namesItsTable_andSlicesHaveRoomForAPageOfCopies() {
    assertThat(walk(0).table()).isEqualTo("wide");
    assertThat(walk(table).leastRoom()).isEqualTo(SLICE);
    SparseTable narrow = new SparseTable(1, new SparseTableSpec("t", 3, InitializerSpec.zeros(), OptimizerSpec.sgd(1)));
    assertThat(walk(narrow).leastRoom()).isEqualTo((1 << 14) / 3);
    SparseTable wider = new SparseTable(1, new SparseTableSpec("t", 20_000, InitializerSpec.zeros(), OptimizerSpec.sgd(1)));
    assertThat(walk(wider).leastRoom()).isEqualTo(1);
  }

  private static RowWalk walk(SparseTable of) {
    return new RowWalk(of, null, 0);
  }

  @Test
  void rowsOfTheSegmentUnderWayAreGivenOnce_whicheverChange() {
    long[] rows = ofSegment(7, 13);
    table.pull(Arrays.copyOf(rows, 12));
    RowWalk walk = walk(1 << 30);
    assertThat(walk.rows()).isEqualTo(12);
    assertThat(fetch(walk)).isEqualTo(SLICE);
    change(rows[2], rows[3]); // given
    change(rows[4]); // the next one
    change(rows[11]); // the last one
    change(rows[12]); // new
    change(rows[12], rows[4]);
    while (fetch(walk) > 0) {
      change(rows[5], rows[7], rows[12]);
    }
    assertThat(got).containsExactlyInAnyOrderElementsOf(LongStream.of(rows).limit(12).boxed().toList());
  }

  @Test
  void rowsOfOtherSegmentsAreGivenOnce() {
    long[] behind = ofSegment(3, 5);
    long[] ahead = ofSegment(200, 5);
    table.pull(behind);
    table.pull(ahead);
    RowWalk walk = walk(1 << 30);
    fetch(walk);
    fetch(walk); // the fifth of the first segment, and three of the other
    change(behind);
    change(ahead);
    while (fetch(walk) > 0) {
      change(ahead);
    }
    assertThat(got).hasSize(10).doesNotHaveDuplicates();
  }

  /** Full pages of copies are given first, and leave their memory to the next ones. */
  @Test
  void aWalkGoesOnWhileItsCopiesAreFetchedInTime() {
    long[] rows = ofSegment(9, 40);
    table.pull(rows);
    RowWalk walk = walk(SLICE * ROW_BYTES);
    for (int at = 36; at >= 0; at -= SLICE) {
      long[] last = Arrays.copyOfRange(rows, at, at + SLICE);
      change(last);
      assertThat(fetch(walk)).isEqualTo(SLICE);
      assertThat(got.subList(got.size() - SLICE, got.size())).containsExactlyInAnyOrderElementsOf(
          LongStream.of(last).boxed().toList());
    }
    assertThat(fetch(walk)).isZero();
    assertThat(got).hasSize(40).doesNotHaveDuplicates();
  }

  @Test
  void aWalkIsGivenUp_whenOneMoreRowChangesThanMayBeKept() {
    long[] rows = ofSegment(9, 10);
    table.pull(rows);
    RowWalk walk = walk(3 * ROW_BYTES);
    change(rows[5], rows[6], rows[7]);
    change(rows[5]);
    assertThat(fetch(walk)).isEqualTo(SLICE);
    change(rows[9]);
    assertThatThrownBy(() -> fetch(walk)).isInstanceOf(Overloaded.class)
        .hasMessageContainingAll("49152 bytes", "table wide", "snapshot_bytes");
  }
}
