package io.regatta.core.metrics;

import io.regatta.core.error.RegattaException.InvalidInput;

/**
 * Errors of a regression by sums that can be added over ranks. They round like any double sum, so add them
 * in rank order to give every rank the same bits. Not thread-safe; one owner.
 */
public final class RegressionMetrics {

  private double squaredError;
  private double absoluteError;
  private long count;

  /** Adds one prediction and the value it should have been. */
  public void add(float prediction, float target) {
    double error = (double) prediction - target;
    if (!Double.isFinite(error)) {
      throw new InvalidInput("prediction " + prediction + " for target " + target
          + " is not finite: training has diverged, or the data holds a broken value");
    }
    squaredError += error * error;
    absoluteError += Math.abs(error);
    count++;
  }

  /** Adds another one's sums to these. */
  public void merge(RegressionMetrics other) {
    squaredError += other.squaredError;
    absoluteError += other.absoluteError;
    count += other.count;
  }

  public void reset() {
    squaredError = 0;
    absoluteError = 0;
    count = 0;
  }

  /** Number of predictions. */
  public long count() {
    return count;
  }

  /** Mean squared error; NaN if there are no predictions. */
  public double mse() {
    return squaredError / count;
  }

  /** Root of {@link #mse}. */
  public double rmse() {
    return Math.sqrt(mse());
  }

  /** Mean absolute error; NaN if there are no predictions. */
  public double mae() {
    return absoluteError / count;
  }

  /** The sums as doubles, to all-reduce with SUM and give to {@link #ofSums}: squared and absolute error, count. */
  public double[] sums() {
    return new double[] {squaredError, absoluteError, count};
  }

  /** The metrics whose {@link #sums} these are, or the sum of several ones' sums. */
  public static RegressionMetrics ofSums(double[] sums) {
    if (sums.length != 3 || !(sums[0] >= 0) || !(sums[1] >= 0) || sums[2] != (long) sums[2] || sums[2] < 0) {
      throw new InvalidInput("these " + sums.length + " numbers are not the sums of regression metrics");
    }
    RegressionMetrics m = new RegressionMetrics();
    m.squaredError = sums[0];
    m.absoluteError = sums[1];
    m.count = (long) sums[2];
    return m;
  }
}
