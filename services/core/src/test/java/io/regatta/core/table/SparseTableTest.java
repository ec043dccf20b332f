package io.regatta.core.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.init.InitializerSpec;
import io.regatta.core.model.ParameterHash;
import io.regatta.core.model.SparsePartition;
import io.regatta.core.model.SparseTableSpec;
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
    long sum = 0;
    for (int s = 0; s < SparseTable.SEGMENTS; s++) {
      long[] ids = table.ids(s);
      sum += table.digest(ids, 0, ids.length);
    }
    assertThat(sum).isEqualTo(digest);
  }

  @Property(tries = 100)
  void readingGivesWhatPullingGivesAndBearsNothing(@ForAll @Size(max = 20) @UniqueElements List<Long> trained,
      @ForAll @Size(max = 20) List<Long> asked, @ForAll @IntRange(min = 1, max = 9) int dim, @ForAll boolean normal) {
    InitializerSpec initializer = normal ? InitializerSpec.normal(1, 2) : InitializerSpec.uniform(-1, 1);
    SparseTable table = new SparseTable(SEED, new SparseTableSpec("t", dim, initializer, OptimizerSpec.adagrad(0.1)));
    long[] known = trained.stream().mapToLong(Long::longValue).toArray();
    float[] ones = new float[known.length * dim];
    Arrays.fill(ones, 1);
    table.update(known, ones, 0.5f, 1);
    long digest = table.digest(known, 0, known.length);

    long[] ids = LongStream.concat(Arrays.stream(known), asked.stream().mapToLong(Long::longValue)).toArray();
    float[] read = table.read(ids);
    assertThat(table.ids()).containsExactlyInAnyOrder(known);
    assertThat(table.size()).isEqualTo(known.length);
    assertThat(table.digest(known, 0, known.length)).isEqualTo(digest);
    assertThat(table.pull(ids)).containsExactly(read);
  }

  @Test
  void valuesAndSlotsSurviveGrowth() {
    OptimizerSpec momentum = OptimizerSpec.momentum(1, 0.5f, false);
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
      assertThat((double) table.ids(s).length).isBetween(0.5 * mean, 1.5 * mean);
    }
  }

  @Test
  void readingWithoutBirth() {
    SparseTable table = new SparseTable(SEED, spec(2, OptimizerSpec.sgd(1)));
    table.pull(new long[] {Long.MIN_VALUE, 0, 5});
    assertThat(table.existing(new long[] {9, 5, 0, 7}, 1, 4)).containsExactly(5, 0);
    assertThat(table.size()).isEqualTo(3);
  }

  @Test
  void aRowWiderThanASlabFits() {
    SparseTable table = new SparseTable(SEED, spec(5000, OptimizerSpec.adam(1)));
    assertThat(table.pull(new long[] {1, 2})).hasSize(10_000);
    assertThat(table.pull(new long[] {2})).containsExactly(born(table.spec(), 2));
  }

  private static SparseTableSpec spec(int dim, OptimizerSpec optimizer) {
    return new SparseTableSpec("t", dim, InitializerSpec.uniform(-1, 1), optimizer);
  }

  private static float[] born(SparseTableSpec spec, long id) {
    float[] row = new float[spec.dim()];
    spec.initializer().fill(SEED, spec.name(), id, row, 0, spec.dim());
    return row;
  }
}
