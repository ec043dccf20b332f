package io.regatta.core.table;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.model.TableLife;
import io.regatta.core.optim.OptimizerSpec;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/** Totals against sums over the tables, shares of an eviction, and the memory of tables without rows. */
class TableGroupTest {

  private static final int TABLES = 11;
  private static final OptimizerSpec SGD = OptimizerSpec.sgd(1);

  private long nowMillis;

  private List<SparseTable> tables(TableGroup group, int n) {
    return IntStream.range(0, n).mapToObj(i -> new SparseTable(1, new SparseTableSpec("t" + i, 1 + i % 3,
        InitializerSpec.zeros(), SGD, i % 2 == 0 ? TableLife.NONE : TableLife.NONE.withTtlSeconds(10)), false, group))
        .toList();
  }

  @Property(tries = 50)
  void totalsAreSumsOverTheTables(@ForAll long seed) {
    Random random = new Random(seed);
    TableGroup group = new TableGroup(TABLES, true, () -> nowMillis);
    List<SparseTable> tables = tables(group, TABLES);
    for (int i = 0; i < 200; i++) {
      SparseTable t = tables.get(random.nextInt(TABLES));
      long[] ids = LongStream.generate(() -> random.nextInt(50)).limit(1 + random.nextInt(9)).toArray();
      switch (random.nextInt(4)) {
        case 0 -> t.add(ids, new float[ids.length * t.spec().dim()]);
        case 1 -> t.restore(ids[0], new float[t.layout().width()], 0);
        case 2 -> {
          nowMillis += 4_000;
          for (int s = 0; s < SparseTable.SEGMENTS; s++) {
            t.shrink(s, 0, t.rows(s), t.mark(), false);
          }
        }
        default -> t.pull(ids);
      }
      assertThat(group.rows()).isEqualTo(tables.stream().mapToLong(SparseTable::size).sum());
      assertThat(group.bytes()).isEqualTo(tables.stream().mapToLong(x -> x.size() * x.rowBytes()).sum());
      assertThat(group.created()).isEqualTo(tables.stream().mapToLong(SparseTable::births).sum());
      assertThat(group.evictableRows()).isEqualTo(
          tables.stream().filter(x -> x.layout().tracked()).mapToLong(SparseTable::size).sum());
    }
  }

  @Test
  void evictsFromTheTableThatHoldsTheRow() {
    TableGroup group = new TableGroup(TABLES, true, () -> 0);
    List<SparseTable> tables = tables(group, TABLES);
    for (int i = 0; i < TABLES; i++) {
      tables.get(i).pull(LongStream.range(0, 2_000 + i).toArray()); // enough for an eviction to find one
    }
    Random random = new Random(3);
    for (int i = 0; i < 500; i++) {
      long at = i == 0 ? 0 : i == 1 ? group.evictableRows() - 1 : random.nextInt((int) group.evictableRows());
      long left = at;
      int chosen = 0;
      while (!tables.get(chosen).layout().tracked() || left >= tables.get(chosen).size()) {
        left -= tables.get(chosen).layout().tracked() ? tables.get(chosen).size() : 0;
        chosen++;
      }
      long[] sizes = tables.stream().mapToLong(SparseTable::size).toArray();
      sizes[chosen]--;
      group.evict(at);
      assertThat(tables.stream().mapToLong(SparseTable::size).toArray()).isEqualTo(sizes);
    }
  }

  @Test
  void nothingCanBeEvicted_whenTheGroupDoesNotEvict() {
    TableGroup group = new TableGroup(2, false, () -> 0);
    tables(group, 2).forEach(t -> t.pull(new long[] {1, 2}));
    assertThat(group.evictableRows()).isZero();
    assertThat(group.rows()).isEqualTo(4);
  }

  @Test
  void tableAllocatesSegmentsWithTheirFirstRows() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    int n = 100;
    tables(new TableGroup(n, false, () -> 0), n); // loads classes
    long before = threads.getCurrentThreadAllocatedBytes();
    List<SparseTable> tables = tables(new TableGroup(n, false, () -> 0), n);
    long empty = threads.getCurrentThreadAllocatedBytes() - before;
    assertThat(empty / n).as("bytes of an empty table").isLessThan(2_000);
    tables.forEach(t -> assertThat(t.missing(new long[] {1, 2, 3})).isEqualTo(3));
    tables.forEach(t -> assertThat(t.read(new long[] {4})).containsOnly(0));
    before = threads.getCurrentThreadAllocatedBytes();
    tables.forEach(t -> t.pull(new long[] {1}));
    assertThat((threads.getCurrentThreadAllocatedBytes() - before) / n).as("bytes of a first row").isLessThan(4_000);
    assertThat(tables).allSatisfy(t -> assertThat(t.ids()).containsExactly(1));
  }
}
