package io.regatta.core.optim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.List;
import org.junit.jupiter.api.Test;

class LearningRateTest {

  @Test
  void constantStaysAtItsBase() {
    LearningRate r = LearningRate.constant(0.3);
    assertThat(r.at(0)).isEqualTo(0.3);
    assertThat(r.at(Long.MAX_VALUE)).isEqualTo(0.3);
  }

  @Test
  void stepDropsEveryDecaySteps() {
    LearningRate r = LearningRate.step(0.8, 10, 0.5);
    assertThat(r.at(9)).isEqualTo(0.8);
    assertThat(r.at(10)).isEqualTo(0.4);
    assertThat(r.at(29)).isEqualTo(0.2);
    assertThat(r.at(30)).isEqualTo(0.1);
  }

  @Test
  void exponentialFollowsThePowerAndItsStaircaseTheStep() {
    LearningRate smooth = LearningRate.exponential(0.8, 10, 0.25);
    assertThat(smooth.at(5)).isCloseTo(0.4, within(1e-15));
    assertThat(smooth.at(10)).isCloseTo(0.2, within(1e-15));
    LearningRate stairs = LearningRate.exponential(0.8, 10, 0.25).withStaircase(true);
    LearningRate step = LearningRate.step(0.8, 10, 0.25);
    for (long n = 0; n < 50; n++) {
      assertThat(stairs.at(n)).isEqualTo(step.at(n));
    }
  }

  @Test
  void piecewiseChangesAtItsBoundariesWhichCountTheWarmUp() {
    LearningRate r = LearningRate.piecewise(List.of(30L, 60L), List.of(0.1, 0.01, 0.001)).withWarmupSteps(10);
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
    LearningRate r = LearningRate.noam(1, 512, 4000);
    double peak = Math.pow(512, -0.5) * Math.pow(4000, -0.5);
    assertThat(r.at(3999)).isCloseTo(peak, within(1e-15));
    assertThat(r.at(0)).isCloseTo(peak / 4000, within(1e-15));
    assertThat(r.at(15999)).isCloseTo(peak / 2, within(1e-15));
  }

  @Test
  void cosineGoesFromBaseToMinimumAndStaysThere() {
    LearningRate r = LearningRate.cosine(1.0, 100, 0.2);
    assertThat(r.at(0)).isEqualTo(1.0);
    assertThat(r.at(50)).isCloseTo(0.6, within(1e-15));
    assertThat(r.at(100)).isCloseTo(0.2, within(1e-15));
    assertThat(r.at(10_000)).isCloseTo(0.2, within(1e-15));
  }

  @Test
  void warmUpIsLinearAndTheCurveStartsAtItsEnd() {
    LearningRate r = LearningRate.step(1.0, 10, 0.1).with(rate -> rate.warmupSteps(4).warmupStart(0.2));
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
    assertRefused(() -> LearningRate.step(1, 0, 0.5), "decay_steps is 0");
    assertRefused(() -> LearningRate.exponential(1, 10, 0), "decay_rate is 0.0");
    assertRefused(() -> LearningRate.constant(1).withWarmupSteps(-1), "warmup_steps is -1");
    assertRefused(() -> LearningRate.piecewise(List.of(5L), List.of(1.0)), "one more than boundaries [5]");
    assertRefused(() -> LearningRate.piecewise(List.of(5L, 5L), List.of(1.0, 0.5, 0.1)), "rising");
    assertRefused(() -> LearningRate.piecewise(List.of(5L), List.of(1.0, 0.5)).withWarmupSteps(10), "above warmup_steps 10");
    assertRefused(() -> LearningRate.noam(1, 0, 10), "model_dim");
    assertRefused(() -> LearningRate.noam(1, 64, 0), "warmup_steps");
    assertRefused(() -> LearningRate.cosine(1, 10, 2), "minimum");
    assertRefused(() -> LearningRate.constant(1).at(-1), "step -1");
  }

  @Test
  void wrongRatesOfAPartAreRefusedByName() {
    assertRefused(() -> LearningRate.constant(1).with(rate -> rate.warmupSteps(5).warmupStart(-0.5)), "warmup_start is -0.5");
    assertRefused(() -> LearningRate.piecewise(List.of(5L), List.of(1.0, -0.5)), "values is -0.5");
    assertRefused(() -> LearningRate.cosine(1, 0, 0), "decay_steps is 0");
    assertRefused(() -> LearningRate.cosine(1, 10, -0.1), "minimum is -0.1");
    assertRefused(() -> LearningRate.constant(1).times(-1), "base is -1.0");
  }

  @Test
  void boundsThemselvesAreAllowed() {
    assertThat(LearningRate.cosine(1, 10, 0).at(10)).isZero();
    assertThat(LearningRate.cosine(0.5, 10, 0.5).at(7)).isEqualTo(0.5);
    assertThat(LearningRate.step(1, 1, 0.5).at(3)).isEqualTo(0.125);
    assertThat(LearningRate.noam(1, 1, 1).at(0)).isEqualTo(1);
  }

  @Test
  void whatAKindDoesNotUseIsNotLookedAt() {
    assertThat(LearningRate.constant(0.3).with(rate -> rate.warmupSteps(0).warmupStart(-1)).at(0)).as("no warm-up").isEqualTo(0.3);
    LearningRate noam = LearningRate.noam(1, 4, 100);
    assertThat(noam.with(rate -> rate.warmupSteps(100).warmupStart(-1)).at(7)).as("its own warm-up").isEqualTo(noam.at(7));
  }

  @Test
  void timesMultipliesEveryRateOfTheCurve() {
    LearningRate cosine = LearningRate.cosine(1, 100, 0.25).with(rate -> rate.warmupSteps(4).warmupStart(0.5)).times(8);
    assertThat(cosine.at(0)).as("a warm-up begins where it did").isEqualTo(0.5);
    assertThat(cosine.at(4)).isEqualTo(8);
    assertThat(cosine.at(104)).isEqualTo(2);
    LearningRate piecewise = LearningRate.piecewise(List.of(5L), List.of(1.0, 0.25)).times(8);
    assertThat(piecewise.at(4)).isEqualTo(8);
    assertThat(piecewise.at(5)).isEqualTo(2);
  }

  /** Everything is set; what a kind uses is left, and the rates stay as they were. */
  @Test
  void usedLeavesOutWhatTheKindDoesNotUse() {
    for (LearningRate.Kind kind : LearningRate.Kind.values()) {
      LearningRate full = new LearningRate(kind, 0.5, 10, 0.5, true, List.of(30L), List.of(0.5, 0.25), 64, 0.125, 8, 0.0625);
      LearningRate used = full.used();
      for (long step : new long[] {0, 3, 8, 17, 18, 29, 30, 500}) {
        assertThat(used.at(step)).as("%s at step %d", kind, step).isEqualTo(full.at(step));
      }
      assertThat(used).isEqualTo(switch (kind) {
        case CONSTANT -> LearningRate.constant(0.5).with(rate -> rate.warmupSteps(8).warmupStart(0.0625));
        case STEP -> LearningRate.step(0.5, 10, 0.5).with(rate -> rate.warmupSteps(8).warmupStart(0.0625));
        case EXPONENTIAL -> LearningRate.exponential(0.5, 10, 0.5)
            .with(rate -> rate.staircase(true).warmupSteps(8).warmupStart(0.0625));
        case PIECEWISE -> LearningRate.piecewise(List.of(30L), List.of(0.5, 0.25)).with(rate -> rate.warmupSteps(8).warmupStart(0.0625));
        case NOAM -> LearningRate.noam(0.5, 64, 8);
        case COSINE -> LearningRate.cosine(0.5, 10, 0.125).with(rate -> rate.warmupSteps(8).warmupStart(0.0625));
      });
    }
    assertThat(LearningRate.constant(1).with(rate -> rate.warmupSteps(0).warmupStart(0.5)).used()).isEqualTo(LearningRate.constant(1));
  }

  private static void assertRefused(Runnable what, String text) {
    assertThatThrownBy(what::run).isInstanceOf(InvalidInput.class).hasMessageContaining(text);
  }
}
