package io.regatta.core.metrics;

/**
 * Loss, accuracy and AUC of a binary classifier by bucket histograms: sums that can be added over ranks, so the
 * global value is exactly what one process gets from the same predictions. Buckets as in Paddle's {@code auc} op
 * (bin = (int)(p · buckets), buckets + 1 bins), walked from high to low with trapezoids; 0.5 if a class is missing.
 * Not thread-safe; one owner.
 */
public final class BinaryMetrics {

  /** Default number of buckets: 2^16, within 1e-3 of the exact AUC with a wide margin. */
  public static final int BUCKETS = 1 << 16;

  public BinaryMetrics(int buckets) {
    throw new UnsupportedOperationException("TODO core helper");
  }

  /** Adds one prediction: probability of the positive class in [0, 1], and the label 0 or 1. */
  public void add(float probability, float label) {
    throw new UnsupportedOperationException("TODO core helper");
  }

  /** Adds another one's sums to these (same number of buckets). */
  public void merge(BinaryMetrics other) {
    throw new UnsupportedOperationException("TODO core helper");
  }

  public void reset() {
    throw new UnsupportedOperationException("TODO core helper");
  }

  public long count() {
    throw new UnsupportedOperationException("TODO core helper");
  }

  public double auc() {
    throw new UnsupportedOperationException("TODO core helper");
  }

  public double accuracy() {
    throw new UnsupportedOperationException("TODO core helper");
  }

  /** Mean log loss, probabilities limited to [1e-7, 1-1e-7]. */
  public double logloss() {
    throw new UnsupportedOperationException("TODO core helper");
  }

  /**
   * The sums as doubles, to all-reduce with SUM and give to {@link #ofSums}. Exact: counts are whole numbers below 2^53,
   * and the log loss is summed in fixed point so that its sum does not depend on the order.
   */
  public double[] sums() {
    throw new UnsupportedOperationException("TODO core helper");
  }

  public static BinaryMetrics ofSums(double[] sums) {
    throw new UnsupportedOperationException("TODO core helper");
  }
}
