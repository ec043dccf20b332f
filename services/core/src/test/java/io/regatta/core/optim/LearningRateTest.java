package io.regatta.core.optim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.optim.LearningRate.Kind;
import java.util.List;
import org.junit.jupiter.api.Test;

class LearningRateTest {

  private static LearningRate decay(Kind kind, double base, long steps, double rate, boolean staircase, long warmup) {
    return new LearningRate(kind, base, steps, rate, staircase, List.of(), List.of(), 0, 0, warmup, 0);
  }

  private static LearningRate piecewise(List<Long> boundaries, List<Double> values, long warmup) {
    return new LearningRate(Kind.PIECEWISE, 0, 0, 0, false, boundaries, values, 0, 0, warmup, 0);
  }

  @Test
  void constantStaysAtItsBase() {
    LearningRate r = LearningRate.constant(0.3);
    assertThat(r.at(0)).isEqualTo(0.3);
    assertThat(r.at(Long.MAX_VALUE)).isEqualTo(0.3);
  }

  @Test
  void stepDropsEveryDecaySteps() {
    LearningRate r = decay(Kind.STEP, 0.8, 10, 0.5, false, 0);
    assertThat(r.at(9)).isEqualTo(0.8);
    assertThat(r.at(10)).isEqualTo(0.4);
    assertThat(r.at(29)).isEqualTo(0.2);
    assertThat(r.at(30)).isEqualTo(0.1);
  }

  @Test
  void exponentialFollowsThePowerAndItsStaircaseTheStep() {
    LearningRate smooth = decay(Kind.EXPONENTIAL, 0.8, 10, 0.25, false, 0);
    assertThat(smooth.at(5)).isCloseTo(0.4, within(1e-15));
    assertThat(smooth.at(10)).isCloseTo(0.2, within(1e-15));
    LearningRate stairs = decay(Kind.EXPONENTIAL, 0.8, 10, 0.25, true, 0);
    LearningRate step = decay(Kind.STEP, 0.8, 10, 0.25, false, 0);
    for (long n = 0; n < 50; n++) {
      assertThat(stairs.at(n)).isEqualTo(step.at(n));
    }
  }

  @Test
  void piecewiseChangesAtItsBoundariesWhichCountTheWarmUp() {
    LearningRate r = piecewise(List.of(30L, 60L), List.of(0.1, 0.01, 0.001), 10);
    assertThat(r.at(0)).isZero();
    assertThat(r.at(5)).isCloseTo(0.05, within(1e-15));
    assertThat(r.at(10)).isEqualTo(0.1);
    assertThat(r.at(29)).isEqualTo(0.1);
    assertThat(r.at(30)).isEqualTo(0.01);
    assertThat(r.at(60)).isEqualTo(0.001);
    assertThat(r.at(1_000_000)).isEqualTo(0.001);
  }

  /** d = 512, warm-up 4000: the rate of the paper peaks at step 4000 with 512^-0.5 · 4000^-0.5. */
  @Test
  void noamRisesLinearlyAndFallsWithTheRoot() {
    LearningRate r = new LearningRate(Kind.NOAM, 1, 0, 0, false, List.of(), List.of(), 512, 0, 4000, 0);
    double peak = Math.pow(512, -0.5) * Math.pow(4000, -0.5);
    assertThat(r.at(3999)).isCloseTo(peak, within(1e-15));
    assertThat(r.at(0)).isCloseTo(peak / 4000, within(1e-15));
    assertThat(r.at(15999)).isCloseTo(peak / 2, within(1e-15));
  }

  @Test
  void cosineGoesFromBaseToMinimumAndStaysThere() {
    LearningRate r = new LearningRate(Kind.COSINE, 1.0, 100, 0, false, List.of(), List.of(), 0, 0.2, 0, 0);
    assertThat(r.at(0)).isEqualTo(1.0);
    assertThat(r.at(50)).isCloseTo(0.6, within(1e-15));
    assertThat(r.at(100)).isCloseTo(0.2, within(1e-15));
    assertThat(r.at(10_000)).isCloseTo(0.2, within(1e-15));
  }

  @Test
  void warmUpIsLinearAndTheCurveStartsAtItsEnd() {
    LearningRate r = new LearningRate(Kind.STEP, 1.0, 10, 0.1, false, List.of(), List.of(), 0, 0, 4, 0.2);
    assertThat(r.at(0)).isCloseTo(0.2, within(1e-15));
    assertThat(r.at(1)).isCloseTo(0.4, within(1e-15));
    assertThat(r.at(3)).isCloseTo(0.8, within(1e-15));
    assertThat(r.at(4)).isEqualTo(1.0);
    assertThat(r.at(13)).isEqualTo(1.0);
    assertThat(r.at(14)).isCloseTo(0.1, within(1e-15));
  }

  @Test
  void wrongParametersAreRefusedByName() {
    assertRefused(() -> LearningRate.constant(-0.1), "learning rate constant: base is -0.1");
    assertRefused(() -> LearningRate.constant(Double.NaN), "base is NaN");
    assertRefused(() -> decay(Kind.STEP, 1, 0, 0.5, false, 0), "decay_steps is 0");
    assertRefused(() -> decay(Kind.EXPONENTIAL, 1, 10, 0, false, 0), "decay_rate is 0.0");
    assertRefused(() -> decay(Kind.CONSTANT, 1, 0, 0, false, -1), "warmup_steps is -1");
    assertRefused(() -> piecewise(List.of(5L), List.of(1.0), 0), "one more than boundaries [5]");
    assertRefused(() -> piecewise(List.of(5L, 5L), List.of(1.0, 0.5, 0.1), 0), "rising");
    assertRefused(() -> piecewise(List.of(5L), List.of(1.0, 0.5), 10), "above warmup_steps 10");
    assertRefused(() -> new LearningRate(Kind.NOAM, 1, 0, 0, false, List.of(), List.of(), 0, 0, 10, 0), "model_dim");
    assertRefused(() -> new LearningRate(Kind.NOAM, 1, 0, 0, false, List.of(), List.of(), 64, 0, 0, 0), "warmup_steps");
    assertRefused(() -> new LearningRate(Kind.COSINE, 1, 10, 0, false, List.of(), List.of(), 0, 2, 0, 0), "minimum");
    assertRefused(() -> LearningRate.constant(1).at(-1), "step -1");
  }

  private static void assertRefused(Runnable what, String text) {
    assertThatThrownBy(what::run).isInstanceOf(InvalidInput.class).hasMessageContaining(text);
  }
}
