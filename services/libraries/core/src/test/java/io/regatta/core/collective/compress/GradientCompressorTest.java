package io.regatta.core.collective.compress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.nio.FloatBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class GradientCompressorTest {

  /** Whole numbers, whose sums are exact in float32. */
  private static float[] gradient(Random random, int n) {
    float[] g = new float[n];
    for (int i = 0; i < n; i++) {
      g[i] = random.nextInt(201) - 100;
    }
    return g;
  }

  /** Error feedback: nothing is lost, also of steps that were dropped. */
  @Property(tries = 200)
  void whatWasSentAndWhatIsLeftAreTogetherTheGradients(@ForAll long seed, @ForAll @IntRange(min = 1, max = 200) int n,
      @ForAll @IntRange(min = 1, max = 60) int steps, @ForAll @IntRange(min = 1, max = 100) int percent) {
    Random random = new Random(seed);
    GradientCompressor compressor = new GradientCompressor(n, 0, false);
    double[] gradients = new double[n];
    double[] sent = new double[n];
    int k = Math.max(1, n * percent / 100);
    long[] pairs = new long[k + 2];
    for (int step = 0; step < steps; step++) {
      float[] g = gradient(random, n);
      int cut = random.nextInt(n + 1); // in two parts, as of two variables
      compressor.accumulate(g, 0, cut);
      compressor.accumulate(Arrays.copyOfRange(g, cut, n), cut, n - cut);
      compressor.takeLargest(0, n, k, pairs, 1);
      boolean dropped = random.nextInt(4) == 0;
      for (int i = 0; i < n; i++) {
        gradients[i] += g[i];
      }
      if (dropped) {
        compressor.giveBack(pairs, 1, k + 1);
      } else {
        for (int i = 1; i <= k; i++) {
          sent[SparsePairs.index(pairs[i])] += SparsePairs.value(pairs[i]);
        }
      }
    }
    for (int i = 0; i < n; i++) {
      assertThat(sent[i] + compressor.residual(i)).isEqualTo(gradients[i]);
    }
  }

  /** Whole gradients: the sum over the ranks is the velocity of momentum SGD on the sum of the gradients. */
  @Property(tries = 100)
  void wholeGradientsGiveMomentum(@ForAll long seed, @ForAll boolean nesterov,
      @ForAll @IntRange(min = 1, max = 4) int ranks) {
    Random random = new Random(seed);
    int n = 20;
    float m = 0.75f;
    GradientCompressor[] compressors = new GradientCompressor[ranks];
    Arrays.setAll(compressors, r -> new GradientCompressor(n, m, nesterov));
    double[] velocity = new double[n];
    for (int step = 0; step < 20; step++) {
      double[] sum = new double[n];
      double[] sent = new double[n];
      for (GradientCompressor compressor : compressors) {
        float[] g = gradient(random, n);
        compressor.accumulate(g, 0, n);
        float[] out = new float[n];
        compressor.takeWhole(0, n, out);
        for (int i = 0; i < n; i++) {
          sum[i] += g[i];
          sent[i] += out[i];
        }
      }
      for (int i = 0; i < n; i++) {
        velocity[i] = m * velocity[i] + sum[i];
        assertThat(sent[i]).isCloseTo(nesterov ? sum[i] + m * velocity[i] : velocity[i], within(1e-2));
      }
    }
  }

  /** Computed on paper: m = 0.5, one of two elements a step. */
  @Test
  void velocityIsCorrectedAndMasked() {
    GradientCompressor compressor = new GradientCompressor(2, 0.5f, false);
    long[] pairs = new long[1];
    compressor.accumulate(new float[] {4, 3}, 0, 2); // u = v = 4 3
    compressor.takeLargest(0, 2, 1, pairs, 0);
    assertThat(pairs[0]).isEqualTo(SparsePairs.pair(0, 4));
    compressor.accumulate(new float[] {1, 1}, 0, 2); // u = 1 2.5, for that of element 0 was masked; v = 1 5.5
    compressor.takeLargest(0, 2, 1, pairs, 0);
    assertThat(pairs[0]).isEqualTo(SparsePairs.pair(1, 5.5f));
    compressor.accumulate(new float[] {0, 0}, 0, 2); // u = 0.5 0; v = 1.5 0
    compressor.takeLargest(0, 2, 1, pairs, 0);
    assertThat(pairs[0]).isEqualTo(SparsePairs.pair(0, 1.5f));
  }

  @Property
  void pairsComeBack(@ForAll @IntRange(min = 0) int index, @ForAll int bits) {
    long pair = SparsePairs.pair(index, Float.intBitsToFloat(bits));
    assertThat(SparsePairs.index(pair)).isEqualTo(index);
    assertThat((int) pair).isEqualTo(Float.floatToRawIntBits(Float.intBitsToFloat(bits)));
  }

  @Test
  void pairsAreAddedAndLookedAt() {
    FloatBuffer floats = FloatBuffer.wrap(new float[] {9, 1, 0, 9});
    assertThat(SparsePairs.addTo(floats, 1, 3, new long[] {SparsePairs.pair(2, -2), SparsePairs.pair(2, 5)})).isTrue();
    assertThat(floats.array()).containsExactly(9, 1, 3, 9);
    assertThat(SparsePairs.addTo(floats, 1, 3, new long[] {SparsePairs.pair(1, Float.MAX_VALUE),
        SparsePairs.pair(1, Float.MAX_VALUE)})).isFalse();
    assertThatThrownBy(() -> SparsePairs.addTo(floats, 1, 3, new long[] {SparsePairs.pair(3, 1)}))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("element 3 in a bucket of the elements 1 to 2");
  }

  /** PaddlePaddle's example of {@code dgc_configs}, begun at step 50. */
  @Test
  void sparsityWarmsUp() {
    Sparsity sparsity = new Sparsity(50, 100, List.of(0.75, 0.9375, 0.984375, 0.996, 0.999));
    assertThat(sparsity.isWhole(49)).isTrue();
    assertThat(sparsity.isWhole(50)).isFalse();
    assertThat(List.of(50L, 69L, 70L, 90L, 110L, 130L, 149L, 150L, 100_000L)).map(step -> sparsity.kept(step, 16_000))
        .containsExactly(4000, 4000, 1000, 250, 64, 16, 16, 16, 16);
    assertThat(sparsity.kept(150, 3)).isEqualTo(1);
    assertThat(new Sparsity(0, 1, List.of(0.999)).kept(0, 25_000_000)).isEqualTo(25_000);
    assertThatThrownBy(() -> new Sparsity(0, 1, List.of(1.0))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("0.999");
    assertThatThrownBy(() -> new Sparsity(-1, 1, List.of(0.5))).isInstanceOf(InvalidInput.class);
  }
}
