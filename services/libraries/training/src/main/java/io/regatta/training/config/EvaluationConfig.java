package io.regatta.training.config;

import io.regatta.node.settings.Setting;

/**
 * Keys of the metrics that evaluate a binary classifier. A program's record of settings holds it as an {@code @Inline}
 * component.
 */
public record EvaluationConfig(
    @Setting(value = "-1", doc = "Reports the metric gauc: AUC by group, where the first id of this slot, numbered "
        + "from 0, names an example's group, such as its user. Groups are weighted by their numbers of examples. -1: off.")
    int gaucSlot,
    @Setting(value = "10000000", unit = "examples", doc = "The most test examples, over all trainers, for which gauc "
        + "is computed: with more it is left out, with a warning. A replica holds 12 bytes for each example that it "
        + "tests, and 12 for each example of the groups that it computes.")
    int gaucLimit) {

  /** The metrics that need no key. */
  public static final EvaluationConfig DEFAULT = new EvaluationConfig(-1, 10_000_000);
}
