package io.regatta.core.optim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.FloatRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class GradientClippingTest {

  @Test
  void scalesThreeFourToLengthOne() {
    float[] g = {9, 3, 4, 9};
    assertThat(GradientClipping.byNorm(g, 1, 2, 1)).isEqualTo(5);
    assertThat(g).containsExactly(9, 0.6f, 0.8f, 9);
  }

  @Test
  void leavesAloneWhatIsWithinTheLimitOrUnlimited() {
    float[] g = {3, 4};
    GradientClipping.byNorm(g, 0, 2, 5);
    GradientClipping.byNorm(g, 0, 2, 0);
    assertThat(g).containsExactly(3, 4);
    assertThat(GradientClipping.byNorm(new float[0], 0, 0, 1)).isZero();
  }

  @Test
  void doesNotHideNanOrInfinityFromTheNanPolicy() {
    float[] infinite = {1, Float.POSITIVE_INFINITY};
    GradientClipping.byNorm(infinite, 0, 2, 1);
    assertThat(infinite).containsExactly(1, Float.POSITIVE_INFINITY);
    float[] nan = {1, Float.NaN};
    GradientClipping.byNorm(nan, 0, 2, 1);
    assertThat(nan).containsExactly(1, Float.NaN);
  }

  @Test
  void squaresOfLargeFloatsDoNotOverflow() {
    float[] g = {Float.MAX_VALUE, Float.MAX_VALUE};
    GradientClipping.byNorm(g, 0, 2, 1);
    assertThat(g[0]).isCloseTo((float) Math.sqrt(0.5), within(1e-6f));
  }

  @Property(tries = 200)
  void theNormAfterwardsIsTheLesserOfTheTwo(@ForAll @Size(max = 33) float[] values,
      @ForAll @FloatRange(min = 0.01f, max = 100) float limit) {
    float[] g = values.clone();
    for (int i = 0; i < g.length; i++) {
      g[i] = Math.max(-1e6f, Math.min(1e6f, g[i]));
    }
    double before = GradientClipping.byNorm(g, 0, g.length, limit);
    double expected = Math.min(before, limit);
    assertThat(GradientClipping.norm(g, 0, g.length)).isCloseTo(expected, within(1e-6 * expected));
  }
}
