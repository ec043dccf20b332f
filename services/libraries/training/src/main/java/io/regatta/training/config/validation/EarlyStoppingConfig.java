package io.regatta.training.config.validation;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.metrics.EarlyStopping;
import io.regatta.node.settings.Setting;
import io.regatta.node.settings.Settings;
import io.regatta.training.result.MetricNames;

/**
 * The section {@code early_stopping} of a job: training ends when a metric of the validation rows improves no more, and
 * the model of the best evaluation is the result. Immutable.
 */
public record EarlyStoppingConfig(
    @Setting(doc = "Metric of the validation rows by which models are compared, such as auc or logloss: the model of the best "
        + "evaluation is saved. Empty: the last model is.")
    String metric,

    @Setting(value = "2", unit = "evaluations", doc = "Training ends after so many evaluations in a row that are no better than "
        + "the best one.")
    int patience,

    @Setting(value = "0", doc = "An evaluation is better if its metric is better by more than this.")
    double minDelta) {

  public EarlyStoppingConfig {
    new EarlyStopping(true, patience, minDelta); // checks them
  }

  /** Returns true if a metric is named. */
  public boolean isOn() {
    return !metric.isBlank();
  }

  /** Returns the rule. */
  public EarlyStopping rule() {
    return new EarlyStopping(!MetricNames.isLowerBetter(metric), patience, minDelta);
  }

  /** Refuses keys that have no effect, because no metric is named, or there is nothing to evaluate. */
  public void check(ValidationConfig validation) {
    if (!isOn() && !equals(Settings.defaults(EarlyStoppingConfig.class))) {
      throw new InvalidInput("early_stopping: metric is missing; give one, such as auc or logloss");
    }
    if (!MetricNames.isOrdered(metric)) {
      throw new InvalidInput("early_stopping: models cannot be compared by metric " + metric + "; give one such as auc, logloss or "
          + "calibration_error");
    }
    if (isOn() && !validation.isOn()) {
      throw new InvalidInput("early_stopping: there are no validation rows; give data.validation, such as {share: 0.1, by: hash}");
    }
  }
}
