package io.regatta.core.sketch;

/**
 * Count, mean, deviation and range of numbers. Two of them are merged as by Chan, Golub, LeVeque ("Algorithms for
 * Computing the Sample Variance", 1983). One owner.
 */
public final class Moments {

  private long count;
  private double mean;
  /** Sum of squared differences from the mean. */
  private double squares;
  private double min = Double.POSITIVE_INFINITY;
  private double max = Double.NEGATIVE_INFINITY;

  /** Adds a finite number. */
  public void add(double value) {
    count++;
    double difference = value - mean;
    mean += difference / count;
    squares += difference * (value - mean);
    min = Math.min(min, value);
    max = Math.max(max, value);
  }

  /** Adds the numbers of another one. */
  public void merge(Moments other) {
    if (other.count == 0) {
      return;
    }
    long all = count + other.count;
    double difference = other.mean - mean;
    double share = (double) other.count / all;
    squares += other.squares + difference * difference * count * share;
    mean += difference * share;
    count = all;
    min = Math.min(min, other.min);
    max = Math.max(max, other.max);
  }

  public long count() {
    return count;
  }

  /** Returns the mean; 0 without numbers. */
  public double mean() {
    return mean;
  }

  /** Returns the standard deviation of the population; 0 without numbers. */
  public double deviation() {
    return count == 0 ? 0 : Math.sqrt(squares / count);
  }

  /** Returns the least number; infinity without numbers. */
  public double min() {
    return min;
  }

  /** Returns the greatest number; negative infinity without numbers. */
  public double max() {
    return max;
  }
}
