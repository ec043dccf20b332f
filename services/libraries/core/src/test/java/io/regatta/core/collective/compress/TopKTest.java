package io.regatta.core.collective.compress;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Comparator;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** Against sorting. */
class TopKTest {

  private static int[] sorted(float[] v, int from, int n, int k) {
    return IntStream.range(from, from + n).boxed()
        .sorted(Comparator.<Integer>comparingDouble(i -> -Math.abs(v[i])).thenComparing(i -> i))
        .limit(k).mapToInt(i -> i).sorted().toArray();
  }

  private static int[] selected(TopK topK, float[] v, int from, int n, int k) {
    int[] out = new int[k + 2];
    Arrays.fill(out, -1);
    topK.select(v, from, n, k, out, 1);
    assertThat(out[0]).isEqualTo(-1);
    assertThat(out[k + 1]).isEqualTo(-1);
    return Arrays.copyOfRange(out, 1, k + 1);
  }

  /** Few distinct values, so that there are many ties; also where a sample is taken. */
  @Property(tries = 200)
  void itIsThatOfSorting(@ForAll long seed, @ForAll @IntRange(max = 60_000) int n,
      @ForAll @IntRange(max = 1000) int perMille, @ForAll @IntRange(min = 1, max = 5) int kind) {
    Random random = new Random(seed);
    float[] v = new float[n + 7];
    for (int i = 0; i < v.length; i++) {
      v[i] = switch (kind) {
        case 1 -> (float) random.nextGaussian();
        case 2 -> random.nextInt(7) - 3;
        case 3 -> random.nextInt(500) == 0 ? (float) random.nextGaussian() * 1e20f : 0;
        case 4 -> i % 101 == 3 ? 100 + i : random.nextFloat(); // the sample is not like the rest
        default -> (float) Math.exp(-i * 1e-3) * (i % 2 == 0 ? 1 : -1);
      };
    }
    int k = (int) ((long) n * perMille / 1000);
    TopK topK = new TopK();
    assertThat(selected(topK, v, 3, n, k)).containsExactly(sorted(v, 3, n, k));
    int half = n / 2;
    assertThat(selected(topK, v, 0, half, Math.min(1, half))).containsExactly(sorted(v, 0, half, Math.min(1, half)));
  }

  @Test
  void extremes() {
    float[] v = {0f, -0f, Float.MIN_VALUE, Float.NEGATIVE_INFINITY, Float.MAX_VALUE, Float.NaN, 1};
    assertThat(selected(new TopK(), v, 0, v.length, 3)).containsExactly(3, 4, 5);
    assertThat(selected(new TopK(), v, 0, v.length, 6)).containsExactly(0, 2, 3, 4, 5, 6);
    assertThat(selected(new TopK(), v, 0, v.length, 0)).isEmpty();
  }
}
