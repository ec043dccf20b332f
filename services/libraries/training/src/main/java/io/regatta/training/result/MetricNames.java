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

  /** The metrics of which lower values are better. */
  private static final Set<String> LOWER_IS_BETTER = Set.of(LOSS, LOGLOSS, "mae", "mse", "rmse", "normalized_entropy", "perplexity",
      "deviance");

  private MetricNames() {}

  /** Returns true if lower values of a metric are better; of names that are not known, higher ones are. */
  public static boolean isLowerBetter(String name) {
    return LOWER_IS_BETTER.contains(name);
  }
}
