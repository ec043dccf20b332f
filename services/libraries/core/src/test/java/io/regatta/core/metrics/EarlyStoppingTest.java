package io.regatta.core.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.metrics.EarlyStopping.Verdict;
import org.junit.jupiter.api.Test;

/** When training ends, which evaluation is the best, and when the AUC of training rows is too good. */
class EarlyStoppingTest {

  @Test
  void when_patience_is_used_up_then_training_is_over_and_later_evaluations_do_not_count() {
    EarlyStopping auc = new EarlyStopping(true, 2, 0);
    assertThat(auc.verdict(new double[] {})).isEqualTo(new Verdict(-1, 0, false));
    assertThat(auc.verdict(new double[] {0.6, 0.7})).isEqualTo(new Verdict(1, 0, false));
    assertThat(auc.verdict(new double[] {0.6, 0.7, 0.7})).isEqualTo(new Verdict(1, 1, false));
    assertThat(auc.verdict(new double[] {0.6, 0.7, 0.7, 0.71})).isEqualTo(new Verdict(3, 0, false));
    assertThat(auc.verdict(new double[] {0.6, 0.7, 0.7, 0.69, 0.9})).isEqualTo(new Verdict(1, 2, true));
  }

  @Test
  void when_lower_is_better_or_an_improvement_is_too_small_or_no_number_then_the_rule_follows() {
    EarlyStopping loss = new EarlyStopping(false, 3, 0.01);
    assertThat(loss.verdict(new double[] {0.5, 0.495, 0.48})).isEqualTo(new Verdict(2, 0, false));
    assertThat(loss.verdict(new double[] {0.5, 0.495, Double.NaN, 0.491})).isEqualTo(new Verdict(0, 3, true));
    assertThat(loss.verdict(new double[] {Double.NaN, 0.5})).isEqualTo(new Verdict(1, 0, false));
    assertThatThrownBy(() -> new EarlyStopping(true, 0, 0)).isInstanceOf(InvalidInput.class).hasMessageContaining("patience");
    assertThatThrownBy(() -> new EarlyStopping(true, 1, -1)).isInstanceOf(InvalidInput.class).hasMessageContaining("min_delta");
  }

  /** Hanley and McNeil's example: 58 normal and 51 abnormal cases, area 0.893, standard error 0.032. */
  @Test
  void the_standard_error_is_that_of_the_paper() {
    assertThat(AucGap.standardError(0.893, 51, 58)).isCloseTo(0.032, within(0.001));
    assertThat(AucGap.isOverfit(0.96, 0.65, 400, 1600)).isTrue();
    assertThat(AucGap.isOverfit(0.74, 0.72, 400, 1600)).isFalse();
    assertThat(AucGap.isOverfit(0.80, 0.70, 20, 20)).isFalse();
    assertThat(AucGap.isOverfit(0.96, Double.NaN, 0, 10)).isFalse();
  }
}
