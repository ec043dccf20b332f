package io.regatta.core.optim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class OptimizerTest {

  private static final float LR = 0.05f;

  private static TestRule rule(String name, float weightDecay, float clipValue) {
    return TestRule.of(name, name.equals("adagrad") ? Map.of("initial_accumulator", 0.1f) : Map.of(), weightDecay, clipValue);
  }

  private static float[] gaussian(long seed, int n) {
    Random random = new Random(seed);
    float[] out = new float[n];
    for (int i = 0; i < n; i++) {
      out[i] = (float) random.nextGaussian();
    }
    return out;
  }

  /** MXNet's sgd_update is known in two forms: w - lr (g + wd w), and (1 - lr wd) w - lr g. */
  @Test
  void sgdIsTheArithmeticOfMxnetsSgdUpdate() {
    for (float decay : new float[] {0, 0.01f}) {
      float[] w = gaussian(1, 1000);
      float[] g = gaussian(2, 1000);
      float[] before = w.clone();
      rule("sgd", decay, 0).applyWhole(w, new float[0][], g, LR, 1);
      for (int i = 0; i < w.length; i++) {
        float other = (1 - LR * decay) * before[i] - LR * g[i];
        assertThat(w[i]).isEqualTo(before[i] - LR * (g[i] + decay * before[i]));
        assertThat(w[i]).isCloseTo(other, within(decay == 0 ? 0 : 2 * Math.ulp(Math.abs(before[i]) + 1)));
      }
    }
  }

  /** With a constant gradient g, v_t = g (1 - μ^t) / (1 - μ); Nesterov's form is one look ahead. */
  @Test
  void momentumSumsUpAsAGeometricSeries() {
    for (boolean nesterov : new boolean[] {false, true}) {
      TestRule o = TestRule.of("momentum", Map.of("nesterov", nesterov), 0, 0);
      float[] w = {1};
      float[][] slots = o.slots(1);
      double expected = 1;
      for (int t = 1; t <= 30; t++) {
        o.applyWhole(w, slots, new float[] {2}, LR, t);
        double velocity = 2 * (1 - Math.pow(0.9, t)) / (1 - 0.9);
        expected -= LR * (nesterov ? 2 + 0.9 * velocity : velocity);
        assertThat((double) slots[0][0]).isCloseTo(velocity, within(1e-5));
        assertThat((double) w[0]).isCloseTo(expected, within(2e-5));
      }
    }
  }

  @Test
  void adagradDividesByTheRootOfTheSumOfSquares() {
    TestRule o = rule("adagrad", 0, 0);
    float[] w = {1};
    float[][] slots = o.slots(1);
    double expected = 1;
    for (int t = 1; t <= 30; t++) {
      o.applyWhole(w, slots, new float[] {3}, LR, t);
      expected -= LR * 3 / (Math.sqrt(0.1 + 9.0 * t) + 1e-6);
      assertThat((double) w[0]).isCloseTo(expected, within(1e-5));
    }
  }

  /** Algorithm 1 of the paper as it stands there, in double. */
  @Test
  void adamIsAlgorithmOneOfThePaper() {
    TestRule o = TestRule.of("adam", Map.of("epsilon", 1e-6f), 0, 0);
    float[] w = {0.5f};
    float[][] slots = o.slots(1);
    double theta = 0.5;
    double m = 0;
    double v = 0;
    float[] gradients = gaussian(3, 300);
    for (int t = 1; t <= gradients.length; t++) {
      double g = gradients[t - 1];
      o.applyWhole(w, slots, new float[] {gradients[t - 1]}, LR, t);
      m = 0.9 * m + 0.1 * g;
      v = 0.999 * v + 0.001 * g * g;
      theta -= LR * (m / (1 - Math.pow(0.9, t))) / (Math.sqrt(v / (1 - Math.pow(0.999, t))) + 1e-6);
      assertThat((double) w[0]).isCloseTo(theta, within(2e-4));
    }
  }

  @Test
  void adamsFirstStepIsTheRateAgainstTheSignOfTheGradientWhateverItsSize() {
    TestRule o = rule("adam", 0, 0);
    float[] w = {1, 1, 1};
    o.applyWhole(w, o.slots(3), new float[] {1e-3f, -50, 0}, 0.001f, 1);
    assertThat(w[0]).isCloseTo(0.999f, within(1e-6f));
    assertThat(w[1]).isCloseTo(1.001f, within(1e-6f));
    assertThat(w[2]).isEqualTo(1);
  }

  @Test
  void powerIsExactEnoughForAnyStepCount() {
    for (long t : new long[] {1, 2, 3, 7, 100, 12345, 1_000_000}) {
      assertThat(Adam.power(0.999f, t)).isCloseTo(Math.pow(0.999f, t), within(1e-12));
    }
    assertThat(Adam.power(0.999f, Long.MAX_VALUE)).isZero();
  }

  @Test
  void gradientsAreClippedBeforeTheDecayIsAdded() {
    float[] w = {10, 10, 10};
    rule("sgd", 0.5f, 2).applyWhole(w, new float[0][], new float[] {100, -100, 1}, 0.1f, 1);
    assertThat(w).containsExactly(10 - 0.1f * (2 + 5), 10 - 0.1f * (-2 + 5), 10 - 0.1f * (1 + 5));
  }

  @ParameterizedTest
  @MethodSource("io.regatta.core.optim.TestRule#names")
  void nanIsNotClippedAway(String name) {
    TestRule o = rule(name, 0, 1);
    float[] w = {1};
    o.applyWhole(w, o.slots(1), new float[] {Float.NaN}, LR, 1);
    assertThat(w[0]).isNaN();
  }

  @Provide
  Arbitrary<String> names() {
    return Arbitraries.of(TestRule.names());
  }

  /** This makes a result independent of blocks, of shards, and of where the weights lie. */
  @Property(tries = 300)
  void aRangeOfASlabMovesBitForBitLikeAWholeVector(@ForAll("names") String name, @ForAll boolean nesterov,
      @ForAll boolean regularized, @ForAll @IntRange(min = 0, max = 70) int n, @ForAll @IntRange(max = 40) int gap,
      @ForAll long seed) {
    TestRule o = TestRule.of(name, name.equals("momentum") ? Map.of("nesterov", nesterov) : Map.of(), regularized ? 0.01f : 0,
        regularized ? 0.5f : 0);
    float[] w = gaussian(seed, n);
    float[][] slots = o.slots(n);
    int sOff = gap + n + 3;
    int stride = n + gap;
    float[] slab = gaussian(seed + 1, sOff + (1 + o.slots()) * stride + 1);
    System.arraycopy(w, 0, slab, gap, n);
    for (int k = 0; k < slots.length; k++) {
      System.arraycopy(slots[k], 0, slab, sOff + k * stride, n);
    }
    float[] untouched = slab.clone();
    for (int t = 1; t <= 5; t++) {
      float[] g = gaussian(seed + 100 + t, n + 2 * gap);
      float[] whole = Arrays.copyOfRange(g, gap, gap + n);
      o.applyWhole(w, slots, whole, LR, t);
      int cut = n / 3;
      o.apply(slab, gap, slab, sOff, stride, g, gap, cut, LR, t);
      o.apply(slab, gap + cut, slab, sOff + cut, stride, g, gap + cut, n - cut, LR, t);
    }
    System.arraycopy(w, 0, untouched, gap, n);
    for (int k = 0; k < slots.length; k++) {
      System.arraycopy(slots[k], 0, untouched, sOff + k * stride, n);
    }
    assertThat(slab).isEqualTo(untouched);
  }

  @Test
  void wrongParametersAreRefusedByName() {
    assertRefused(() -> OptimizerSpec.of(new Momentum(1, false), 0.1), "optimizer momentum: momentum is 1.0");
    assertRefused(() -> rule("sgd", -1, 0), "weight_decay is -1.0");
    assertRefused(() -> rule("sgd", 0, Float.NaN), "clip_value is NaN");
    assertRefused(() -> OptimizerSpec.of(new Adam(0.9f, 1, 1e-8f), 1), "optimizer adam: beta2 is 1.0");
    assertRefused(() -> OptimizerSpec.of(new Adagrad(0, 0), 1), "optimizer adagrad: epsilon is 0.0");
  }

  private static void assertRefused(Runnable what, String text) {
    assertThatThrownBy(what::run).isInstanceOf(InvalidInput.class).hasMessageContaining(text);
  }
}
