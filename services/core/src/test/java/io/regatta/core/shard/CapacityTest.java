package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.init.InitializerSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.model.TableLife;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.table.SparseTable;
import io.regatta.core.table.TableGroup;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** What still fits, in rows and in bytes, and what is evicted for more: with a tracked table of narrow rows and another of wide ones. */
class CapacityTest {

  private static final long EVICTION = 13 * Turns.ROW_FLOATS;
  /** Enough rows for an eviction, which looks at a few places, to find one. */
  private static final int MANY = 2_000;

  private final TableGroup group = new TableGroup(2, true, () -> 0);
  private final SparseTable tracked = table("tracked", 1, TableLife.NONE.withShrink(0, 0, 10));
  private final SparseTable wide = table("wide", 500, TableLife.NONE);

  private SparseTable table(String name, int dim, TableLife life) {
    return new SparseTable(1, new SparseTableSpec(name, dim, InitializerSpec.zeros(), OptimizerSpec.sgd(1), life), false, group);
  }

  private Capacity capacity(long rows, long bytes, boolean evict) {
    return new Capacity(group, List.of(tracked, wide), new ParameterShard.Limits(1, 1, 1, rows, bytes, evict));
  }

  private static void fill(SparseTable table, int rows) {
    table.pull(LongStream.range(0, rows).toArray());
  }

  @Test
  void countsRowsOfAllTables_whenOnlyTheirNumberIsLimited() {
    Capacity capacity = capacity(10, 0, false);
    assertThat(capacity.left()).isEqualTo(10);
    fill(tracked, 3);
    fill(wide, 2);
    assertThat(capacity.left()).isEqualTo(5);
    fill(tracked, 9);
    assertThat(capacity.left()).isEqualTo(-1);
  }

  @Test
  void countsWholeRowsOfTheWidestTable_whenMemoryIsLimited() {
    long row = wide.rowBytes();
    Capacity capacity = capacity(1000, 4 * row, false);
    assertThat(capacity.left()).isEqualTo(4);
    fill(tracked, 1);
    assertThat(capacity.left()).as("a narrow row takes a part of a wide one's place").isEqualTo(3);
    fill(wide, 4);
    assertThat(capacity.left()).isEqualTo(-1);
    assertThat(capacity(6, 100 * row, false).left()).as("the number of rows is the narrower limit").isEqualTo(1);
  }

  @Test
  void evictsAsManyRowsAsAreNeeded() {
    fill(tracked, MANY);
    Capacity capacity = capacity(MANY + 2, 0, true);
    assertThat(capacity.evictable()).isEqualTo(MANY);
    assertThat(capacity.makeRoom(2, 1)).isZero();
    assertThat(capacity.makeRoom(5, 1)).isEqualTo(3 * EVICTION);
    assertThat(capacity.left()).isEqualTo(5);
    assertThat(tracked.size()).isEqualTo(MANY - 3);
  }

  @Test
  void evictsFourRowsForEachNewOneAtMost() {
    fill(tracked, MANY);
    Capacity capacity = capacity(10 * MANY, MANY * tracked.rowBytes(), true);
    assertThat(capacity.left()).isZero();
    assertThat(capacity.makeRoom(2, 1)).as("less than the bytes of one wide row").isEqualTo(8 * EVICTION);
    assertThat(tracked.size()).isEqualTo(MANY - 8);
  }

  @Test
  void costsNothing_whenNoRowIsTracked() {
    fill(wide, 5);
    assertThat(capacity(1, 0, true).makeRoom(3, 1)).isZero();
    assertThat(wide.size()).isEqualTo(5);
  }

  @Test
  void evictsNothing_whenThePolicyIsToRefuse() {
    fill(tracked, MANY);
    assertThat(capacity(1, 0, false).makeRoom(3, 1)).isZero();
    assertThat(tracked.size()).isEqualTo(MANY);
  }

  @Test
  void namesItsLimitsAndTheSettingsThatRaiseThem() {
    assertThat(capacity(7, 0, false).described()).isEqualTo("its limit of 7 rows; raise the server's row limit "
        + "(parameter_server.limits.rows), or use more shards");
    assertThat(capacity(7, 900, false).described()).isEqualTo("its limit of 7 rows or 900 bytes; raise the server's row limit "
        + "(parameter_server.limits.rows, sparse_bytes), or use more shards");
    assertThat(capacity(7, 0, true).described()).isEqualTo("its limit of 7 rows, with what can be evicted; raise the server's "
        + "limits, or use more shards");
    Capacity untracked = new Capacity(group, List.of(wide), new ParameterShard.Limits(1, 1, 1, 7, 0, true));
    assertThat(untracked.described()).contains("parameter_server.limits.rows").doesNotContain("evicted");
  }
}
