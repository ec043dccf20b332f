package io.regatta.core.reduce;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.exchange.SparseRows;
import java.nio.FloatBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** Row gradients against sums in a map. Whole numbers, so that the order of adding changes nothing. */
class SparseGradientsTest {

  private static float[] wholeNumbers(Random random, int n) {
    float[] v = new float[n];
    for (int i = 0; i < n; i++) {
      v[i] = random.nextInt(200) - 100;
    }
    return v;
  }

  @Property(tries = 200)
  void blocksThatShareATableAreSummedById(@ForAll @Size(max = 4) List<@Size(max = 30) List<@IntRange(max = 9) Integer>>
      blocks, @ForAll @IntRange(min = 1, max = 3) int dim, @ForAll long seed) {
    Random random = new Random(seed);
    SparseGradients gradients = new SparseGradients();
    Map<Long, float[]> expected = new HashMap<>();
    for (List<Integer> block : blocks) {
      long[] ids = block.stream().mapToLong(i -> i * 0x1_0000_0001L - 5).toArray();
      float[] rows = wholeNumbers(random, ids.length * dim);
      DistinctIds distinct = DistinctIds.of(ids);
      assertThat(distinct.ids()).containsExactly(Arrays.stream(ids).distinct().toArray());
      gradients.add("t", dim, distinct, distinct.sum(FloatBuffer.wrap(rows), dim));
      for (int p = 0; p < ids.length; p++) {
        float[] sum = expected.computeIfAbsent(ids[p], id -> new float[dim]);
        for (int k = 0; k < dim; k++) {
          sum[k] += rows[p * dim + k];
        }
      }
    }
    List<SparseRows> out = gradients.toRows();
    assertThat(out).hasSize(blocks.isEmpty() ? 0 : 1);
    if (!out.isEmpty()) {
      SparseRows rows = out.get(0);
      assertThat(rows.ids()).doesNotHaveDuplicates().hasSize(expected.size());
      assertThat(rows.values()).hasSize(rows.ids().length * dim);
      for (int i = 0; i < rows.ids().length; i++) {
        assertThat(Arrays.copyOfRange(rows.values(), i * dim, (i + 1) * dim))
            .containsExactly(expected.get(rows.ids()[i]));
      }
    }
  }
}
