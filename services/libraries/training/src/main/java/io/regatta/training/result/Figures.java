package io.regatta.training.result;

import java.util.Map;

/** The metrics of a run that have fields of their own in its result; NaN if the program did not report one. */
public record Figures(double loss, double auc, double accuracy, double logloss) {

  /**
   * Prefix of the metrics with a slot's coverage: the share of examples in which the slot, by its number from 0
   * ({@link io.regatta.data.Slots#number}), has a value. It is omitted if all examples have one.
   */
  public static final String COVERAGE = "coverage_slot_";

  /** Returns these metrics out of all that a program has reported ({@link io.regatta.training.Worker#report}). */
  public static Figures of(Map<String, Double> reported) {
    return new Figures(reported.getOrDefault("loss", Double.NaN), reported.getOrDefault("auc", Double.NaN),
        reported.getOrDefault("accuracy", Double.NaN), reported.getOrDefault("logloss", Double.NaN));
  }

  /** Returns true if {@link #of} takes this name, so that it is none of the other metrics. */
  public static boolean has(String name) {
    return switch (name) {
      case "loss", "auc", "accuracy", "logloss" -> true;
      default -> false;
    };
  }
}
