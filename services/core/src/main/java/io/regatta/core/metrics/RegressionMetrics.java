package io.regatta.core.metrics;

/** Mean squared error as sums that can be added over ranks. Not thread-safe; one owner. */
public final class RegressionMetrics {
  private double squaredError;
  private long count;

  /** Adds one prediction. */
  public void add(float prediction, float target) {
    double d = (double) prediction - target;
    squaredError += d * d;
    count++;
  }

  /** Number of predictions. */
  public long count() {
    return count;
  }

  /** Mean squared error; NaN without predictions. */
  public double mse() {
    return squaredError / count;
  }

  /** {squared error, count}, to all-reduce with SUM and give to {@link #ofSums}. */
  public double[] sums() {
    return new double[] {squaredError, count};
  }

  /** The metrics whose {@link #sums} these are. */
  public static RegressionMetrics ofSums(double[] sums) {
    RegressionMetrics m = new RegressionMetrics();
    m.squaredError = sums[0];
    m.count = (long) sums[1];
    return m;
  }
}
