package io.regatta.core.metrics;

import io.regatta.core.error.RegattaException.InvalidInput;

/**
 * Loss, accuracy and AUC of a binary classifier by bucket histograms: sums that can be added over ranks, so the
 * global value is exactly what one process gets from the same predictions. Buckets as in Paddle's {@code auc} op
 * (bin = (int)(p · buckets), buckets + 1 bins), walked from high to low with trapezoids; 0.5 if a class is missing.
 * Not thread-safe; one owner.
 */
public final class BinaryMetrics {

  /** Default number of buckets: 2^16, within 1e-3 of the exact AUC with a wide margin. */
  public static final int BUCKETS = 1 << 16;

  /** Log loss is summed in units of 2^-20: whole numbers, so that the sum does not depend on the order. */
  private static final double LOSS_UNIT = 0x1.0p-20;
  private static final float PROBABILITY_FLOOR = 1e-7f;
  /** correct, loss units; the two histograms follow. */
  private static final int HEADER = 2;

  private final long[] negative;
  private final long[] positive;
  private long correct;
  private long lossUnits;

  public BinaryMetrics(int buckets) {
    if (buckets < 1) {
      throw new InvalidInput("an AUC histogram needs at least 1 bucket, not " + buckets);
    }
    negative = new long[buckets + 1];
    positive = new long[buckets + 1];
  }

  /** Adds one prediction: probability of the positive class in [0, 1], and the label 0 or 1. */
  public void add(float probability, float label) {
    if (!(probability >= 0 && probability <= 1)) {
      throw new InvalidInput("a predicted probability must lie in [0, 1], but is " + probability
          + "; the model has diverged, or its output lacks a sigmoid");
    }
    boolean isPositive = label > 0.5f;
    (isPositive ? positive : negative)[(int) ((double) probability * (negative.length - 1))]++;
    if (probability >= 0.5f == isPositive) {
      correct++;
    }
    double p = Math.max(PROBABILITY_FLOOR, Math.min(1.0 - PROBABILITY_FLOOR, probability));
    lossUnits += Math.round(-StrictMath.log(isPositive ? p : 1 - p) / LOSS_UNIT);
  }

  /** Adds another one's sums to these (same number of buckets). */
  public void merge(BinaryMetrics other) {
    if (other.negative.length != negative.length) {
      throw new InvalidInput("histograms of " + (negative.length - 1) + " and " + (other.negative.length - 1)
          + " buckets cannot be added");
    }
    for (int i = 0; i < negative.length; i++) {
      negative[i] += other.negative[i];
      positive[i] += other.positive[i];
    }
    correct += other.correct;
    lossUnits += other.lossUnits;
  }

  /** Forgets everything. */
  public void reset() {
    java.util.Arrays.fill(negative, 0);
    java.util.Arrays.fill(positive, 0);
    correct = 0;
    lossUnits = 0;
  }

  /** Number of predictions. */
  public long count() {
    long n = 0;
    for (int i = 0; i < negative.length; i++) {
      n += negative[i] + positive[i];
    }
    return n;
  }

  /** Area under the ROC curve; 0.5 if there are no positives or no negatives. */
  public double auc() {
    double area = 0;
    double pos = 0;
    double neg = 0;
    for (int i = negative.length - 1; i >= 0; i--) {
      double nextPos = pos + positive[i];
      area += negative[i] * (pos + nextPos) / 2;
      pos = nextPos;
      neg += negative[i];
    }
    return pos * neg == 0 ? 0.5 : area / (pos * neg);
  }

  /** Share of predictions on the right side of 0.5; NaN without predictions. */
  public double accuracy() {
    return (double) correct / count();
  }

  /** Mean log loss, probabilities limited to [1e-7, 1-1e-7]; NaN without predictions. */
  public double logloss() {
    return lossUnits * LOSS_UNIT / count();
  }

  /**
   * The sums as doubles, to all-reduce with SUM and give to {@link #ofSums}: 2 + 2 · (buckets + 1) whole numbers below
   * 2^53, so that adding them is exact in any order.
   */
  public double[] sums() {
    int n = negative.length;
    double[] out = new double[HEADER + 2 * n];
    out[0] = correct;
    out[1] = lossUnits;
    for (int i = 0; i < n; i++) {
      out[HEADER + i] = negative[i];
      out[HEADER + n + i] = positive[i];
    }
    return out;
  }

  /** The metrics whose {@link #sums} these are. */
  public static BinaryMetrics ofSums(double[] sums) {
    int n = (sums.length - HEADER) / 2;
    BinaryMetrics m = new BinaryMetrics(n - 1);
    m.correct = (long) sums[0];
    m.lossUnits = (long) sums[1];
    for (int i = 0; i < n; i++) {
      m.negative[i] = (long) sums[HEADER + i];
      m.positive[i] = (long) sums[HEADER + n + i];
    }
    return m;
  }
}
