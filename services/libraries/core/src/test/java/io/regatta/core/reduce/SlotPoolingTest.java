package io.regatta.core.reduce;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.FloatBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** Pooled slots against sums in double, written down from their definition. Whole numbers: order changes nothing. */
class SlotPoolingTest {

  @Property(tries = 200)
  void slotsAreSumsOfTheirIdsAndGiveEachItsGradient(@ForAll @Size(min = 1, max = 4) List<@IntRange(min = 1, max = 3) Integer> widths,
      @ForAll @IntRange(max = 5) int examples, @ForAll @IntRange(min = 1, max = 3) int dim, @ForAll boolean valued,
      @ForAll long seed) {
    Random random = new Random(seed);
    SlotPooling pooling = new SlotPooling(widths);
    int places = examples * pooling.columns();
    long[] ids = new long[places];
    float[] values = new float[places];
    for (int i = 0; i < places; i++) {
      ids[i] = random.nextInt(4) == 0 ? DistinctIds.PADDING : random.nextInt(5);
      values[i] = random.nextInt(7) - 3;
    }
    DistinctIds distinct = DistinctIds.of(ids);
    assertThat(distinct.ids()).doesNotContain(DistinctIds.PADDING);
    float[] rows = wholeNumbers(random, distinct.size() * dim);
    float[] gradients = wholeNumbers(random, examples * widths.size() * dim);
    float[] expected = new float[examples * widths.size() * dim];
    Map<Long, float[]> expectedGradients = new HashMap<>();
    for (int example = 0, place = 0; example < examples; example++) {
      for (int slot = 0; slot < widths.size(); slot++) {
        for (int i = 0; i < widths.get(slot); i++, place++) {
          if (ids[place] == DistinctIds.PADDING) {
            continue;
          }
          float[] sum = expectedGradients.computeIfAbsent(ids[place], id -> new float[dim]);
          for (int k = 0; k < dim; k++) {
            int at = (example * widths.size() + slot) * dim + k;
            float value = valued ? values[place] : 1;
            expected[at] += value * rows[distinct.index().get(ids[place]) * dim + k];
            sum[k] += value * gradients[at];
          }
        }
      }
    }
    FloatBuffer out = FloatBuffer.allocate(expected.length);
    pooling.pool(distinct, rows, dim, valued ? values : null, out);
    assertThat(out.array()).containsExactly(expected);
    float[] spread = pooling.spread(distinct, FloatBuffer.wrap(gradients), dim, valued ? values : null);
    assertThat(spread).hasSize(expectedGradients.size() * dim);
    expectedGradients.forEach((id, sum) -> {
      for (int k = 0; k < dim; k++) {
        assertThat(spread[distinct.index().get(id.longValue()) * dim + k]).isEqualTo(sum[k]);
      }
    });
  }

  private static float[] wholeNumbers(Random random, int n) {
    float[] v = new float[n];
    for (int i = 0; i < n; i++) {
      v[i] = random.nextInt(200) - 100;
    }
    return v;
  }
}
