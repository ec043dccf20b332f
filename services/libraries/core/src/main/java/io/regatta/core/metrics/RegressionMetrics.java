package io.regatta.core.metrics;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.math.BigDecimal;

/**
 * The errors of a regression, as exact sums that can be added over ranks. Not thread-safe; one owner. In any order and
 * grouping the result has the bits of one process that saw all predictions.
 */
public final class RegressionMetrics {

  private final ExactSum squaredError = new ExactSum();
  private final ExactSum absoluteError = new ExactSum();
  private final ExactSum squaredTargets = new ExactSum();
  /** Of targets above 0, and of the others' amounts: an exact sum holds no negative numbers. */
  private final ExactSum positiveTargets = new ExactSum();
  private final ExactSum negativeTargets = new ExactSum();
  /** The sums in the order of {@link #sums}. */
  private final ExactSum[] all = {squaredError, absoluteError, squaredTargets, positiveTargets, negativeTargets};
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
    squaredTargets.add((double) target * target);
    (target > 0 ? positiveTargets : negativeTargets).add(Math.abs((double) target));
    count++;
  }

  /** Adds the sums of another instance to these. */
  public void merge(RegressionMetrics other) {
    for (int i = 0; i < all.length; i++) {
      all[i].add(other.all[i]);
    }
    count += other.count;
  }

  public void reset() {
    for (ExactSum sum : all) {
      sum.reset();
    }
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
   * Returns the coefficient of determination: 1 less the squared error divided by that of the targets' mean. NaN if the
   * targets are all equal or there are no predictions.
   */
  public double r2() {
    BigDecimal sum = positiveTargets.exact().subtract(negativeTargets.exact());
    double ofMean = squaredTargets.exact().multiply(BigDecimal.valueOf(count)).subtract(sum.multiply(sum)).doubleValue();
    return ofMean == 0 ? Double.NaN : 1 - squaredError.value() * count / ofMean;
  }

  /**
   * Returns the sums as whole numbers in doubles: squared and absolute errors, squared, positive and negative targets,
   * and the count. To be all-reduced with SUM and given to {@link #ofSums}.
   */
  public double[] sums() {
    double[] sums = new double[all.length * ExactSum.PARTS + 1];
    for (int i = 0; i < all.length; i++) {
      all[i].write(sums, i * ExactSum.PARTS);
    }
    sums[sums.length - 1] = count;
    return sums;
  }

  /** Returns the metrics with these {@link #sums}, of one instance or added over several. */
  public static RegressionMetrics ofSums(double[] sums) {
    RegressionMetrics m = new RegressionMetrics();
    int last = m.all.length * ExactSum.PARTS;
    if (sums.length != last + 1 || sums[last] != (long) sums[last] || sums[last] < 0) {
      throw new InvalidInput("these " + sums.length + " numbers are not the sums of regression metrics");
    }
    for (int i = 0; i < m.all.length; i++) {
      m.all[i].read(sums, i * ExactSum.PARTS);
    }
    m.count = (long) sums[last];
    return m;
  }
}
