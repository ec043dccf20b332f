package io.regatta.core.metrics;

/**
 * The difference between the AUC of the examples of a training pass and that of held-out examples, and the rule that
 * calls it overfitting. Stateless.
 */
public final class AucGap {

  /** Smallest difference that matters, however many examples there are. */
  public static final double LEAST = 0.05;
  /** Standard errors of the held-out AUC beyond which a difference is no chance. */
  public static final double ERRORS = 3;

  private AucGap() {}

  /**
   * Returns the standard error of an AUC (Hanley and McNeil 1982, "The meaning and use of the area under a receiver
   * operating characteristic curve"); NaN without examples of both classes.
   *
   * @param positives number of positive examples
   * @param negatives number of negative examples
   */
  public static double standardError(double auc, double positives, double negatives) {
    double q1 = auc / (2 - auc);
    double q2 = 2 * auc * auc / (1 + auc);
    return Math.sqrt((auc * (1 - auc) + (positives - 1) * (q1 - auc * auc) + (negatives - 1) * (q2 - auc * auc))
        / (positives * negatives));
  }

  /**
   * Returns true if the training AUC exceeds the held-out AUC by more than {@link #LEAST} plus {@link #ERRORS} standard
   * errors of the latter.
   */
  public static boolean isOverfit(double training, double heldOut, double positives, double negatives) {
    return training - heldOut > LEAST + ERRORS * standardError(heldOut, positives, negatives);
  }
}
