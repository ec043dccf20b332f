package io.regatta.core.metrics;

import io.regatta.core.error.RegattaException.InvalidInput;

/**
 * Mean squared error of a regression by sums that can be added over ranks. They round like any double sum, so add them
 * in rank order to give every rank the same bits. Not thread-safe; one owner.
 */
public final class RegressionMetrics {

  private double squaredError;
  private long count;

  /** Adds one prediction and the value it should have been. */
  public void add(float prediction, float target) {
    double error = (double) prediction - target;
    if (!Double.isFinite(error)) {
      throw new InvalidInput("prediction " + prediction + " for target " + target
          + " is not finite: training has diverged, or the data holds a broken value");
    }
    squaredError += error * error;
    count++;
  }

  /** Adds another one's sums to these. */
  public void merge(RegressionMetrics other) {
    squaredError += other.squaredError;
    count += other.count;
  }

  public void reset() {
    squaredError = 0;
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

  /** The sums as doubles, to all-reduce with SUM and give to {@link #ofSums}: squared error, count. */
  public double[] sums() {
    return new double[] {squaredError, count};
  }

  /** The metrics whose {@link #sums} these are, or the sum of several ones' sums. */
  public static RegressionMetrics ofSums(double[] sums) {
    if (sums.length != 2 || !(sums[0] >= 0) || sums[1] != (long) sums[1] || sums[1] < 0) {
      throw new InvalidInput("these " + sums.length + " numbers are not the sums of regression metrics");
    }
    RegressionMetrics m = new RegressionMetrics();
    m.squaredError = sums[0];
    m.count = (long) sums[1];
    return m;
  }
}
