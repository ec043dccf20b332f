package io.regatta.core.metrics;

import io.regatta.core.error.RegattaException.InvalidInput;

/**
 * The rule by which training ends before its last pass. An evaluation improves on the best one before it if its metric
 * is better by more than {@code minDelta}; NaN improves on nothing. Training ends with the first evaluation that is the
 * {@code patience}-th in a row without an improvement (Prechelt 1998, "Early stopping - but when?", with strips of one
 * evaluation). The verdict is a function of the metrics alone, so that a resumed run decides as an unbroken one. Immutable.
 *
 * @param higherIsBetter true for metrics such as AUC, false for losses
 * @param patience ≥ 1
 * @param minDelta ≥ 0
 */
public record EarlyStopping(boolean higherIsBetter, int patience, double minDelta) {

  /**
   * The verdict after some evaluations.
   *
   * @param best index of the best evaluation, from 0; -1 if none had a number
   * @param since evaluations after the best one
   * @param over true if training ends
   */
  public record Verdict(int best, int since, boolean over) {

    /** Returns true if the last evaluation is the best one. */
    public boolean lastIsBest() {
      return best >= 0 && since == 0;
    }
  }

  public EarlyStopping {
    if (patience < 1) {
      throw new InvalidInput("patience must be at least 1, not " + patience);
    }
    if (!(minDelta >= 0)) {
      throw new InvalidInput("min_delta must be at least 0, not " + minDelta);
    }
  }

  /** Returns the verdict after evaluations with these metrics, in their order. */
  public Verdict verdict(double[] metrics) {
    int best = -1;
    int since = 0;
    for (int i = 0; i < metrics.length && since < patience; i++) {
      double gain = best < 0 ? Double.POSITIVE_INFINITY
          : higherIsBetter ? metrics[i] - metrics[best] : metrics[best] - metrics[i];
      if (!Double.isNaN(metrics[i]) && gain > minDelta) {
        best = i;
        since = 0;
      } else {
        since++;
      }
    }
    return new Verdict(best, since, since >= patience);
  }
}
