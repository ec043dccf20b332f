package io.regatta.training.config;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.settings.Setting;

/** A label in the section {@code labels} of a job file, by its name. Immutable. */
public record LabelConfig(
    @Setting(doc = "Column that it reads; empty: the label's name.")
    String column,

    @Setting(value = "binary", doc = "binary: 0 or 1, and the model estimates the probability of 1.")
    Kind kind,

    @Setting(doc = "Text that is 1; any other is 0. Empty: 0, 1, true and false are expected, and another value is a bad line.")
    String positive,

    @Setting(value = "1", doc = "How often a row of label 1 counts in the training loss, beside one of label 0.")
    double positiveWeight,

    @Setting(value = "1", doc = "Share of the training rows of label 0 that are trained on, drawn anew in each pass; all metrics and "
        + "predictions are corrected for it. 1: all.")
    double negativeRate) {

  /** The kinds of labels. */
  public enum Kind { BINARY }

  public LabelConfig {
    if (!(positiveWeight > 0) || Double.isInfinite(positiveWeight)) {
      throw new InvalidInput("positive_weight must be more than 0, not " + positiveWeight);
    }
    if (!(negativeRate > 0 && negativeRate <= 1)) {
      throw new InvalidInput("negative_rate must be more than 0, and at most 1, not " + negativeRate);
    }
  }
}
