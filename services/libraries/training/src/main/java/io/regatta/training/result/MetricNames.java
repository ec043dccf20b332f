package io.regatta.training.result;

import java.util.List;
import java.util.Set;

/** Names of the metrics that the result of a run treats by name. All others are reported under any name. Stateless. */
public final class MetricNames {

  public static final String LOSS = "loss";
  public static final String AUC = "auc";
  public static final String ACCURACY = "accuracy";
  public static final String LOGLOSS = "logloss";

  /**
   * The metrics that are keys of the result itself, in their order; the others are in its object {@code metrics}. Those
   * of the lowest rank are the result's.
   */
  public static final List<String> TOP_LEVEL = List.of(LOSS, AUC, ACCURACY, LOGLOSS);

  /**
   * Prefix of the metrics with a slot's coverage: the share of examples in which the slot, by its number from 0
   * ({@link io.regatta.data.Slots#number}), has a value. It is omitted if all examples have one.
   */
  public static final String COVERAGE = "coverage_slot_";

  /** The metrics of which lower values are better, without label and slice. */
  private static final Set<String> LOWER_IS_BETTER = Set.of(LOSS, LOGLOSS, "mae", "mse", "rmse", "normalized_entropy", "perplexity",
      "deviance", "calibration_error");
  /** Figures that describe the test data or the predictions, without label and slice; neither direction is better. */
  private static final Set<String> NO_ORDER = Set.of("calibration", "calibration_predicted", "calibration_observed", "calibration_examples",
      "confusion", "examples", "gauc_groups", "ndcg_groups", "recall_items");

  private MetricNames() {}

  /**
   * Returns true if lower values of a metric are better; of names that are not known, higher ones are.
   *
   * @param name {@code METRIC}, {@code LABEL.METRIC} or either with {@code [SLICE]}
   */
  public static boolean isLowerBetter(String name) {
    return LOWER_IS_BETTER.contains(metric(name));
  }

  /** Returns true if models can be compared by a metric: one of its directions is better. */
  public static boolean isOrdered(String name) {
    return !NO_ORDER.contains(metric(name));
  }

  /** Returns the name of a metric without its label and its slice. */
  private static String metric(String name) {
    int slice = name.indexOf('[');
    String whole = slice < 0 ? name : name.substring(0, slice);
    return whole.substring(whole.lastIndexOf('.') + 1);
  }
}
