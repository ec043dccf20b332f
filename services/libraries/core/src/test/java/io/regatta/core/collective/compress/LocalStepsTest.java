package io.regatta.core.collective.compress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import org.junit.jupiter.api.Test;

class LocalStepsTest {

  @Test
  void averagesEachStepAtFirstThenEveryK() {
    LocalSteps steps = LocalSteps.fixed(4, 3);
    int local = 0;
    StringBuilder due = new StringBuilder();
    for (int step = 1; step <= 12; step++) {
      local++;
      if (steps.isDue(step, local)) {
        due.append(step).append(' ');
        steps.averaged(1, 1);
        local = 0;
      }
    }
    assertThat(due.toString()).isEqualTo("1 2 3 7 11 ");
  }

  /** k = ceil(sqrt(lr0 / lr * loss / loss0 * init)): rises as the rate falls, falls with the loss. */
  @Test
  void theAdaptiveFormFollowsLossAndRate() {
    LocalSteps steps = LocalSteps.adaptive(9, 1);
    steps.averaged(2, 0.1);
    assertThat(steps.kSteps()).isEqualTo(3);
    steps.averaged(0.5, 0.1);
    assertThat(steps.kSteps()).isEqualTo(2);
    steps.averaged(0.5, 0.01);
    assertThat(steps.kSteps()).isEqualTo(5);
    steps.averaged(0.5, 0);
    assertThat(steps.kSteps()).as("at most").isEqualTo(16);
    steps.averaged(0, 0.1);
    assertThat(steps.kSteps()).as("at least").isEqualTo(1);
    steps.averaged(Double.NaN, 0.1);
    assertThat(steps.kSteps()).isEqualTo(1);
    assertThatThrownBy(() -> LocalSteps.adaptive(0, 1)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("init_k_steps");
    assertThatThrownBy(() -> LocalSteps.fixed(1, -1)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("begin_step");
  }

  @Test
  void theAdaptiveFormIsBehindAWarmUpWhatItIsWithoutOne() {
    LocalSteps steps = LocalSteps.adaptive(9, 3);
    for (int step = 1; step <= 3; step++) {
      steps.averaged(2, 0.1 * step / 3);
    }
    steps.averaged(0.5, 0.1);
    assertThat(steps.kSteps()).isEqualTo(2);
    steps.averaged(0.5, 0.01);
    assertThat(steps.kSteps()).isEqualTo(5);
  }
}
