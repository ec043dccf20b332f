package io.regatta.training.result;

import java.util.Map;

/** The figures of a run that have places of their own in its result; NaN where the program did not report one. */
public record Figures(double loss, double auc, double accuracy, double logloss) {

  /**
   * Begins the names of the shares of examples in which a slot, by its number from 0 ({@link io.regatta.data.Slots#number}),
   * holds a value; left out where all do.
   */
  public static final String COVERAGE = "coverage_slot_";

  /** Out of all that a program has reported ({@link io.regatta.training.Worker#report}). */
  public static Figures of(Map<String, Double> reported) {
    return new Figures(reported.getOrDefault("loss", Double.NaN), reported.getOrDefault("auc", Double.NaN),
        reported.getOrDefault("accuracy", Double.NaN), reported.getOrDefault("logloss", Double.NaN));
  }

  /** Whether {@link #of} takes this name, so that it is none of the other metrics. */
  public static boolean has(String name) {
    return switch (name) {
      case "loss", "auc", "accuracy", "logloss" -> true;
      default -> false;
    };
  }
}
