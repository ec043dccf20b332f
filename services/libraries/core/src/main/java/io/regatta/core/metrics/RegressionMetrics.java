package io.regatta.core.metrics;

import io.regatta.core.error.RegattaException.InvalidInput;

/**
 * The errors of a regression, as exact sums that can be added over ranks. Not thread-safe; one owner. In any order and
 * grouping the result has the bits of one process that saw all predictions.
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

  /** Adds the sums of another instance to these. */
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

  /** Returns the number of predictions. */
  public long count() {
    return count;
  }

  /** Returns the mean squared error; NaN if there are no predictions. */
  public double mse() {
    return squaredError.value() / count;
  }

  /** Returns the root of {@link #mse}. */
  public double rmse() {
    return Math.sqrt(mse());
  }

  /** Returns the mean absolute error; NaN if there are no predictions. */
  public double mae() {
    return absoluteError.value() / count;
  }

  /**
   * Returns the sums as whole numbers in doubles: squared error, absolute error, count. To be all-reduced with SUM and
   * given to {@link #ofSums}.
   */
  public double[] sums() {
    double[] sums = new double[COUNT + 1];
    squaredError.write(sums, 0);
    absoluteError.write(sums, ExactSum.PARTS);
    sums[COUNT] = count;
    return sums;
  }

  /** Returns the metrics with these {@link #sums}, of one instance or added over several. */
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
