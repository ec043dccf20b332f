package io.regatta.training.config;

import io.regatta.node.settings.Setting;

/** A label in the section {@code labels} of a job file, by its name. Immutable. */
public record LabelConfig(
    @Setting(doc = "Column that it reads; empty: the label's name.")
    String column,

    @Setting(value = "binary", doc = "binary: 0 or 1, and the model estimates the probability of 1.")
    Kind kind,

    @Setting(doc = "Text that is 1; any other is 0. Empty: 0, 1, true and false are expected, and another value is a bad line.")
    String positive) {

  /** The kinds of labels. */
  public enum Kind { BINARY }
}
