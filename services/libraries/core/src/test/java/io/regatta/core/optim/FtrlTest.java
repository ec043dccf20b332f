package io.regatta.core.optim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.Random;
import org.junit.jupiter.api.Test;

class FtrlTest {

  private static final float ALPHA = 0.3f;

  /** Algorithm 1 of the paper as it stands there, in double: w from z and n first, then z and n from the gradient. */
  @Test
  void isAlgorithmOneOfThePaper() {
    float beta = 1;
    float l1 = 0.8f;
    float l2 = 0.5f;
    TestRule o = TestRule.of(OptimizerSpec.of(new Ftrl(beta, l1, l2, 0), ALPHA));
    Random random = new Random(5);
    float[] w = {0};
    float[][] slots = o.slots(1);
    double z = 0;
    double n = 0;
    int zeros = 0;
    for (int t = 1; t <= 400; t++) {
      double weight = paper(z, n, beta, l1, l2);
      float g = (float) (random.nextGaussian() + Math.sin(t / 40.0));
      double sigma = (Math.sqrt(n + (double) g * g) - Math.sqrt(n)) / ALPHA;
      z += g - sigma * weight;
      n += (double) g * g;
      o.applyWhole(w, slots, new float[] {g}, ALPHA, t);
      assertThat((double) w[0]).isCloseTo(paper(z, n, beta, l1, l2), within(2e-4));
      zeros += w[0] == 0 ? 1 : 0;
    }
    assertThat(zeros).isBetween(1, 399); // both branches have been taken
  }

  private static double paper(double z, double n, double beta, double l1, double l2) {
    return Math.abs(z) <= l1 ? 0 : -(z - Math.signum(z) * l1) / ((beta + Math.sqrt(n)) / ALPHA + l2);
  }

  /** Without L1 the rule telescopes to w -= g / ((beta + √n) / alpha + l2), from any initial weight. */
  @Test
  void withoutL1ItIsAdagradWithBeta() {
    TestRule o = TestRule.of(OptimizerSpec.of(new Ftrl(1, 0, 0.25f, 0), ALPHA));
    float[] w = {0.7f, 0, -2};
    double[] expected = {0.7f, 0, -2};
    float[][] slots = o.slots(3);
    for (int t = 1; t <= 50; t++) {
      o.applyWhole(w, slots, new float[] {2, 2, 2}, ALPHA, t);
      for (int i = 0; i < 3; i++) {
        expected[i] -= 2 / ((1 + Math.sqrt(4.0 * t)) / ALPHA + 0.25);
        assertThat((double) w[i]).isCloseTo(expected[i], within(1e-4));
      }
    }
  }

  @Test
  void anInitialWeightStaysUntilAGradientMovesIt() {
    TestRule o = TestRule.of(OptimizerSpec.of(new Ftrl(1, 2, 0.5f, 0), ALPHA));
    float[] w = {0.1f, -0.1f, 0};
    float[][] slots = o.slots(3);
    o.applyWhole(w, slots, new float[3], ALPHA, 1);
    assertThat(w[0]).isCloseTo(0.1f, within(1e-6f));
    assertThat(w[1]).isCloseTo(-0.1f, within(1e-6f));
    assertThat(w[2]).isZero();
    o.applyWhole(w, slots, new float[] {1, -1, 1}, ALPHA, 2);
    assertThat(w[0]).isBetween(-0.2f, 0.0999f);
    assertThat(w[1]).isEqualTo(-w[0]);
    assertThat(w[2]).isEqualTo(0f); // |z| = 1 is not above l1, and 0 is not -0
  }

  /** The weight is a function of z and n: whatever it was set to, the next update makes it anew. */
  @Test
  void anUpdatedWeightIsAFunctionOfItsSlots() {
    TestRule o = TestRule.of(OptimizerSpec.of(new Ftrl(1, 0.1f, 0, 0), ALPHA));
    float[] w = {0};
    float[][] slots = o.slots(1);
    for (int t = 1; t <= 5; t++) {
      o.applyWhole(w, slots, new float[] {3}, ALPHA, t);
    }
    float kept = w[0];
    w[0] = 77;
    o.applyWhole(w, slots, new float[] {0}, ALPHA, 6);
    assertThat(w[0]).isEqualTo(kept);
  }

  @Test
  void aRateOfZeroMovesNothing() {
    TestRule o = TestRule.of(OptimizerSpec.of(new Ftrl(1, 0.1f, 0, 0), 0));
    float[] w = {0.5f};
    o.applyWhole(w, o.slots(1), new float[] {3}, 0, 1);
    assertThat(w[0]).isEqualTo(0.5f);
  }

  @Test
  void aDivisorThatMayBeZeroIsRefused() {
    assertThatThrownBy(() -> OptimizerSpec.of(new Ftrl(0, 1, 0, 0), ALPHA)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("beta");
  }
}
