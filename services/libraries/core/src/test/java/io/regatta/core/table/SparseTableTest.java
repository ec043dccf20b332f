package io.regatta.core.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.init.InitializerSpec;
import io.regatta.core.model.ParameterHash;
import io.regatta.core.model.SparsePartition;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.Adagrad;
import io.regatta.core.optim.Momentum;
import io.regatta.core.optim.OptimizerSpec;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import net.jqwik.api.constraints.UniqueElements;
import org.junit.jupiter.api.Test;

class SparseTableTest {

  private static final long SEED = 3;

  @Property(tries = 100)
  void rowsBehaveLikeAMapFromIdToVector(@ForAll @Size(max = 8) List<@Size(max = 20) @UniqueElements List<Long>> batches,
      @ForAll @IntRange(min = 1, max = 9) int dim) {
    SparseTableSpec spec = spec(dim, OptimizerSpec.sgd(0.5));
    SparseTable table = new SparseTable(SEED, spec);
    Map<Long, float[]> model = new HashMap<>();
    for (List<Long> batch : batches) {
      long[] ids = batch.stream().mapToLong(Long::longValue).toArray();
      float[] g = new float[ids.length * dim];
      for (int i = 0; i < g.length; i++) {
        g[i] = i * 0.25f;
      }
      assertThat(table.missing(ids)).isEqualTo((int) batch.stream().filter(id -> !model.containsKey(id)).count());
      table.update(ids, g, 0.5f, 1);
      table.add(ids, g);
      for (int i = 0; i < ids.length; i++) {
        float[] row = model.computeIfAbsent(ids[i], id -> born(spec, id));
        for (int k = 0; k < dim; k++) {
          row[k] = row[k] - 0.5f * g[i * dim + k] + g[i * dim + k];
        }
      }
    }
    assertThat(table.size()).isEqualTo(model.size());
    assertThat(table.ids()).containsExactlyInAnyOrder(model.keySet().stream().mapToLong(Long::longValue).toArray());
    long digest = 0;
    for (Map.Entry<Long, float[]> e : model.entrySet()) {
      assertThat(table.pull(new long[] {e.getKey()})).containsExactly(e.getValue());
      digest += ParameterHash.row("t", e.getKey(), e.getValue(), 0, dim);
    }
    assertThat(digest(table)).isEqualTo(digest);
  }

  @Property(tries = 100)
  void readingGivesWhatPullingGivesAndBearsNothing(@ForAll @Size(max = 20) @UniqueElements List<Long> trained,
      @ForAll @Size(max = 20) List<Long> asked, @ForAll @IntRange(min = 1, max = 9) int dim, @ForAll boolean normal) {
    InitializerSpec initializer = normal ? InitializerSpec.normal(1, 2) : InitializerSpec.uniform(-1, 1);
    SparseTable table = new SparseTable(SEED, new SparseTableSpec("t", dim, initializer, OptimizerSpec.of("adagrad", 0.1)));
    long[] known = trained.stream().mapToLong(Long::longValue).toArray();
    float[] ones = new float[known.length * dim];
    Arrays.fill(ones, 1);
    table.update(known, ones, 0.5f, 1);
    long digest = digest(table);

    long[] ids = LongStream.concat(Arrays.stream(known), asked.stream().mapToLong(Long::longValue)).toArray();
    float[] read = table.read(ids);
    assertThat(table.ids()).containsExactlyInAnyOrder(known);
    assertThat(table.size()).isEqualTo(known.length);
    assertThat(digest(table)).isEqualTo(digest);
    assertThat(table.pull(ids)).containsExactly(read);
  }

  @Test
  void valuesAndSlotsSurviveGrowth() {
    OptimizerSpec momentum = OptimizerSpec.of(new Momentum(0.5f, false), 1);
    SparseTable table = new SparseTable(SEED, new SparseTableSpec("t", 3, InitializerSpec.zeros(), momentum));
    long[] first = LongStream.range(0, 1000).toArray();
    float[] ones = new float[3000];
    Arrays.fill(ones, 1);
    table.update(first, ones, 1, 1);
    table.pull(LongStream.range(1000, 200_000).toArray());
    table.update(first, ones, 1, 2);
    assertThat(table.size()).isEqualTo(200_000);
    // velocity 1, then 0.5 + 1: the weights have gone down by 2.5
    for (float w : table.pull(first)) {
      assertThat(w).isEqualTo(-2.5f);
    }
  }

  @Test
  void rowsOfOneShardSpreadOverAllSegments() {
    SparseTable table = new SparseTable(SEED, spec(1, OptimizerSpec.sgd(1)));
    table.pull(LongStream.range(0, 400_000).filter(id -> SparsePartition.shardOf(id, 8) == 3).toArray());
    double mean = (double) table.size() / SparseTable.SEGMENTS;
    for (int s = 0; s < SparseTable.SEGMENTS; s++) {
      assertThat((double) table.rows(s)).isBetween(0.5 * mean, 1.5 * mean);
    }
  }

  @Test
  void readingWithoutBirth() {
    SparseTable table = new SparseTable(SEED, spec(2, OptimizerSpec.sgd(1)));
    table.pull(new long[] {Long.MIN_VALUE, 0, 5});
    assertThat(table.missing(new long[] {5, 0})).isZero();
    assertThat(table.missing(new long[] {9, 5, 0, 7})).isEqualTo(2);
    assertThat(table.size()).isEqualTo(3);
  }

  @Test
  void rowsAreWalkedOverInTheOrderOfTheirBirth() {
    SparseTable table = new SparseTable(SEED, spec(2, OptimizerSpec.sgd(1)));
    table.pull(LongStream.range(0, 10_000).toArray());
    int segment = 7;
    int rows = table.rows(segment);
    long[] ids = new long[rows - 3];
    float[] values = new float[2 * ids.length];
    assertThat(table.copy(segment, 3, ids.length, table.mark(), ids, values)).isEqualTo(ids.length);
    assertThat(ids).isSorted();
    assertThat(values).containsExactly(table.pull(ids));
    assertThat(table.id(segment, 3)).isEqualTo(ids[0]);

    table.pull(LongStream.range(10_000, 20_000).toArray());
    assertThat(table.rows(segment)).isGreaterThan(rows);
    assertThat(table.id(segment, 3)).isEqualTo(ids[0]);
  }

  @Test
  void partsOfAListArePulledAndUpdatedAsTheWhole() {
    SparseTable whole = new SparseTable(SEED, spec(3, OptimizerSpec.of("adagrad", 0.1)));
    SparseTable parts = new SparseTable(SEED, spec(3, OptimizerSpec.of("adagrad", 0.1)));
    long[] ids = LongStream.range(0, 1000).map(i -> i * i).toArray();
    float[] g = new float[3000];
    for (int i = 0; i < g.length; i++) {
      g[i] = i - 1500;
    }
    whole.update(ids, g, 0.1f, 1);
    parts.update(ids, 0, 300, g, 0.1f, 1);
    parts.update(ids, 300, 1000, g, 0.1f, 1);
    float[] pulled = new float[3000];
    parts.pull(ids, 0, 129, pulled);
    parts.pull(ids, 129, 1000, pulled);
    assertThat(pulled).containsExactly(whole.pull(ids));
  }

  @Test
  void anIdThatAPullHoldsTwiceIsBornOnce() {
    SparseTable table = new SparseTable(SEED, spec(2, OptimizerSpec.sgd(1)));
    assertThat(table.pull(new long[] {4, 4})).containsExactly(table.pull(new long[] {4, 4}));
    assertThat(table.size()).isEqualTo(1);
  }

  @Test
  void idsThatTheIndexCannotTellApartKeepTheirOwnRows() {
    SparseTable table = new SparseTable(SEED, spec(2, OptimizerSpec.sgd(1)));
    long[] ids = SparseSegmentTest.alike();
    assertThat(table.missing(ids)).isEqualTo(ids.length);
    float[] rows = table.pull(ids);
    assertThat(table.size()).isEqualTo(ids.length);
    for (int i = 0; i < ids.length; i++) {
      assertThat(Arrays.copyOfRange(rows, 2 * i, 2 * i + 2)).containsExactly(born(table.spec(), ids[i]));
    }
    assertThat(table.pull(ids)).containsExactly(rows);
  }

  @Test
  void aRowWiderThanASlabFits() {
    SparseTable table = new SparseTable(SEED, spec(5000, OptimizerSpec.of("adam", 1)));
    assertThat(table.pull(new long[] {1, 2})).hasSize(10_000);
    assertThat(table.pull(new long[] {2})).containsExactly(born(table.spec(), 2));
  }

  @Test
  void anIdThatAPullHoldsTwiceGetsItsOwnRow_whereOthersAre() {
    SparseTable table = new SparseTable(SEED, spec(2, OptimizerSpec.sgd(1)));
    table.pull(LongStream.range(0, 10_000).toArray());
    float[] expected = born(table.spec(), 20_000);
    assertThat(table.pull(new long[] {20_000, 20_000})).containsExactly(expected[0], expected[1], expected[0], expected[1]);
    assertThat(table.size()).isEqualTo(10_001);
  }

  @Test
  void slotsOfNewRowsBeginAsTheOptimizerSays() {
    OptimizerSpec adagrad = OptimizerSpec.of(new Adagrad(1, 3), 1);
    SparseTable table = new SparseTable(SEED, new SparseTableSpec("t", 2, InitializerSpec.zeros(), adagrad));
    table.update(new long[] {5}, new float[] {1, 1}, 1, 1);
    assertThat(table.pull(new long[] {5})).as("1 / (root of 3 + 1, + 1)").containsExactly(-1 / 3f, -1 / 3f);
  }

  @Test
  void partsOfAListAreReadToTheirPlaces() {
    SparseTable table = new SparseTable(SEED, spec(2, OptimizerSpec.sgd(1)));
    long[] ids = LongStream.range(0, 300).toArray();
    float[] read = new float[600];
    table.read(ids, 0, 130, read);
    table.read(ids, 130, 300, read);
    assertThat(read).containsExactly(table.pull(ids));
  }

  @Test
  void refusedRequestsAndAssignedRowsAreCounted() {
    SparseTable table = new SparseTable(SEED, spec(2, OptimizerSpec.sgd(1)));
    table.refused();
    table.refused();
    table.assign(7, new float[] {9, 1, 2}, 1);
    table.assign(7, new float[] {3, 4}, 0);
    assertThat(table.pull(new long[] {7})).containsExactly(3, 4);
    assertThat(table.counts()).isEqualTo(new TableCounts(1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2));
  }

  private static SparseTableSpec spec(int dim, OptimizerSpec optimizer) {
    return new SparseTableSpec("t", dim, InitializerSpec.uniform(-1, 1), optimizer);
  }

  private static long digest(SparseTable table) {
    long sum = 0;
    for (int s = 0; s < SparseTable.SEGMENTS; s++) {
      int half = table.rows(s) / 2;
      sum += table.digest(s, 0, half) + table.digest(s, half, table.rows(s));
    }
    return sum;
  }

  private static float[] born(SparseTableSpec spec, long id) {
    float[] row = new float[spec.dim()];
    spec.initializer().fill(SEED, spec.name(), id, row, 0, spec.dim());
    return row;
  }
}
