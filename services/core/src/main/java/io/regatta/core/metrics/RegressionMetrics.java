package io.regatta.core.metrics;

import io.regatta.core.error.RegattaException.InvalidInput;

/**
 * Errors of a regression by exact sums that can be added over ranks: in any order and grouping the result has the bits of
 * one process that saw all predictions. Not thread-safe; one owner.
 */
public final class RegressionMetrics {

  private static final int COUNT = 2 * ExactSum.PARTS;

  private final ExactSum squaredError = new ExactSum();
  private final ExactSum absoluteError = new ExactSum();
  private long count;

  /** Adds one prediction and the value it should have been. */
  public void add(float prediction, float target) {
    double error = (double) prediction - target;
    if (!Double.isFinite(error)) {
      throw new InvalidInput("prediction " + prediction + " for target " + target
          + " is not finite: training has diverged, or the data holds a broken value");
    }
    squaredError.add(error * error);
    absoluteError.add(Math.abs(error));
    count++;
  }

  /** Adds another one's sums to these. */
  public void merge(RegressionMetrics other) {
    squaredError.add(other.squaredError);
    absoluteError.add(other.absoluteError);
    count += other.count;
  }

  public void reset() {
    squaredError.reset();
    absoluteError.reset();
    count = 0;
  }

  /** Number of predictions. */
  public long count() {
    return count;
  }

  /** Mean squared error; NaN if there are no predictions. */
  public double mse() {
    return squaredError.value() / count;
  }

  /** Root of {@link #mse}. */
  public double rmse() {
    return Math.sqrt(mse());
  }

  /** Mean absolute error; NaN if there are no predictions. */
  public double mae() {
    return absoluteError.value() / count;
  }

  /** The sums as whole numbers in doubles, to all-reduce with SUM and give to {@link #ofSums}: squared and absolute error, count. */
  public double[] sums() {
    double[] sums = new double[COUNT + 1];
    squaredError.write(sums, 0);
    absoluteError.write(sums, ExactSum.PARTS);
    sums[COUNT] = count;
    return sums;
  }

  /** The metrics whose {@link #sums} these are, or the sum of several ones' sums. */
  public static RegressionMetrics ofSums(double[] sums) {
    if (sums.length != COUNT + 1 || sums[COUNT] != (long) sums[COUNT] || sums[COUNT] < 0) {
      throw new InvalidInput("these " + sums.length + " numbers are not the sums of regression metrics");
    }
    RegressionMetrics m = new RegressionMetrics();
    m.squaredError.read(sums, 0);
    m.absoluteError.read(sums, ExactSum.PARTS);
    m.count = (long) sums[COUNT];
    return m;
  }
}
