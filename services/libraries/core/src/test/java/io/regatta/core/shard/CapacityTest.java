package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.init.InitializerSpec;
import io.regatta.core.memory.HeapBudget;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.memory.ShardMemory;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.model.TableLife;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.shard.internal.job.TimeSlices;
import io.regatta.core.shard.internal.parameters.Capacity;
import io.regatta.core.table.SparseTable;
import io.regatta.core.table.TableGroup;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * Tests of the room left, in rows and in bytes, and of evictions for more, with a tracked table of narrow rows and
 * another of wide ones.
 */
class CapacityTest {

  private static final long EVICTION = 13 * TimeSlices.ROW_FLOATS;
  /** Enough rows for an eviction, which looks at a few places, to find one. */
  private static final int MANY = 2_000;

  private final TableGroup group = new TableGroup(2, true, () -> 0);
  private final SparseTable tracked = table("tracked", 1, TableLife.NONE.withTtlSeconds(10));
  private final SparseTable wide = table("wide", 500, TableLife.NONE);

  private SparseTable table(String name, int dim, TableLife life) {
    return new SparseTable(1, new SparseTableSpec(name, dim, InitializerSpec.zeros(), OptimizerSpec.sgd(1), life), false, group);
  }

  private Capacity capacity(long rows, long bytes, boolean evict) {
    return new Capacity(group, wide.rowBytes(), true, new ShardLimits(1, 1, 1, rows, bytes, evict));
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
    Capacity untracked = new Capacity(group, wide.rowBytes(), false, new ShardLimits(1, 1, 1, 7, 0, true));
    assertThat(untracked.described()).contains("parameter_server.limits.rows").doesNotContain("evicted");
  }

  private Capacity within(HeapBudget memory, long rows, boolean evict) {
    return new Capacity(group, wide.rowBytes(), true,
        new ShardLimits(1, 1, 1, rows, 0, evict, new ShardMemory(memory, new HeapBudget(0))));
  }

  @Test
  void countsRowsInTheBudgetOfTheHeap_asTheyComeAndGo() {
    long row = wide.rowBytes();
    HeapBudget memory = new HeapBudget(4 * row + tracked.rowBytes());
    Capacity capacity = within(memory, 100, false);
    assertThat(capacity.left()).isEqualTo(4);
    assertThat(capacity.left(2 * row)).isEqualTo(2);
    assertThat(capacity.left(1)).as("the number of rows is the narrower limit").isEqualTo(100);
    fill(wide, 3);
    fill(tracked, 1);
    assertThat(capacity.left()).isEqualTo(1);
    assertThat(memory.taken()).isEqualTo(3 * row + tracked.rowBytes()).isEqualTo(group.bytes());
    assertThat(capacity.left()).as("counted once").isEqualTo(1);
    while (tracked.size() > 0) {
      group.evict(0);
    }
    assertThat(capacity.left(tracked.rowBytes())).isEqualTo(row / tracked.rowBytes() + 1);
    assertThat(memory.taken()).isEqualTo(3 * row);
    fill(wide, 5);
    assertThat(capacity.left()).as("what has come is counted, also beyond the limit").isZero();
    assertThat(memory.taken()).isEqualTo(5 * row);
  }

  @Test
  void evictsForRowsThatTheHeapHasNoRoomFor() {
    fill(tracked, MANY);
    HeapBudget memory = new HeapBudget((MANY + 2) * tracked.rowBytes());
    Capacity capacity = within(memory, 10 * MANY, true);
    assertThat(capacity.makeRoom(2, tracked.rowBytes())).isZero();
    assertThat(capacity.makeRoom(5, tracked.rowBytes())).isEqualTo(3 * EVICTION);
    assertThat(tracked.size()).isEqualTo(MANY - 3);
  }

  @Test
  void givesAllBackWhenItIsClosed_andCountsNoMore() {
    HeapBudget memory = new HeapBudget(10 * wide.rowBytes());
    Capacity capacity = within(memory, 100, false);
    fill(wide, 2);
    assertThat(capacity.left()).isEqualTo(8);
    capacity.close();
    assertThat(memory.taken()).isZero();
    fill(wide, 3);
    capacity.left();
    assertThat(memory.taken()).isZero();
    capacity.close();
    assertThat(memory.taken()).isZero();
  }

  @Test
  void holdsNoMoreRowsThanATable_howeverHighItsLimit() {
    HeapBudget memory = new HeapBudget(Long.MAX_VALUE);
    assertThat(within(memory, Long.MAX_VALUE, false).left(1)).isEqualTo(256L * (1 << 24) * 7 / 8);
  }

  @Test
  void namesTheHeap_whenThatIsTheNarrowerLimit() {
    HeapBudget memory = new HeapBudget(7 * wide.rowBytes());
    fill(wide, 1);
    Capacity eight = within(memory, 8, false);
    assertThat(eight.left()).isEqualTo(6);
    assertThat(eight.described()).contains("or the memory for parameters, of which " + 6 * wide.rowBytes() + " of "
        + 7 * wide.rowBytes() + " bytes are free for rows of up to " + wide.rowBytes() + " bytes", "-Xmx");
    eight.close();
    Capacity seven = within(memory, 7, false);
    assertThat(seven.left()).isEqualTo(6);
    assertThat(seven.described()).as("both end at the same row").isEqualTo("its limit of 7 rows; raise the "
        + "server's row limit (parameter_server.limits.rows), or use more shards");
  }
}
