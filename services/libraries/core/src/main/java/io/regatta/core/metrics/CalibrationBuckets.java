package io.regatta.core.metrics;

import io.regatta.core.error.RegattaException.InvalidInput;

/**
 * Mean prediction and observed rate of a binary classifier in each of several equally wide buckets of its predictions,
 * as sums that can be added over ranks. Not thread-safe; one owner.
 */
public final class CalibrationBuckets {

  private static final int PARTS = 2 + FixedPointSum.PARTS;

  private final long[] counts;
  private final long[] positives;
  private final FixedPointSum[] predicted;

  /** @param buckets of [0, 1] */
  public CalibrationBuckets(int buckets) {
    if (buckets < 1) {
      throw new InvalidInput("calibration needs at least one bucket, not " + buckets);
    }
    counts = new long[buckets];
    positives = new long[buckets];
    predicted = new FixedPointSum[buckets];
    for (int i = 0; i < buckets; i++) {
      predicted[i] = new FixedPointSum();
    }
  }

  /** Adds one prediction: the probability of the positive class, limited to [0, 1], and the label 0 or 1. */
  public void add(float probability, float label) {
    double p = Math.max(0, Math.min(1, probability));
    int bucket = Math.min(counts.length - 1, (int) (p * counts.length));
    counts[bucket]++;
    positives[bucket] += label == 1 ? 1 : 0;
    predicted[bucket].add(p);
  }

  /** Returns the number of buckets. */
  public int buckets() {
    return counts.length;
  }

  /** Returns the number of predictions in a bucket. */
  public long count(int bucket) {
    return counts[bucket];
  }

  /** Returns the mean prediction in a bucket; NaN without any. */
  public double predicted(int bucket) {
    return predicted[bucket].value() / counts[bucket];
  }

  /** Returns the fraction of positives in a bucket; NaN without predictions. */
  public double observed(int bucket) {
    return (double) positives[bucket] / counts[bucket];
  }

  /**
   * Returns the expected calibration error. It is the mean, over all predictions, of the difference between mean
   * prediction and rate of their bucket (Naeini et al., "Obtaining Well Calibrated Probabilities", 2015).
   */
  public double expectedError() {
    double sum = 0;
    long all = 0;
    for (int i = 0; i < counts.length; i++) {
      sum += counts[i] == 0 ? 0 : Math.abs(predicted[i].value() - positives[i]);
      all += counts[i];
    }
    return sum / all;
  }

  /** Returns the sums as whole numbers in doubles, to all-reduce with SUM and give to {@link #ofSums}. */
  public double[] sums() {
    double[] sums = new double[PARTS * counts.length];
    for (int i = 0; i < counts.length; i++) {
      sums[PARTS * i] = counts[i];
      sums[PARTS * i + 1] = positives[i];
      predicted[i].write(sums, PARTS * i + 2);
    }
    return sums;
  }

  /** Returns the buckets with these {@link #sums}, of one instance or added over several. */
  public static CalibrationBuckets ofSums(double[] sums) {
    CalibrationBuckets of = new CalibrationBuckets(sums.length / PARTS);
    for (int i = 0; i < of.counts.length; i++) {
      of.counts[i] = (long) sums[PARTS * i];
      of.positives[i] = (long) sums[PARTS * i + 1];
      of.predicted[i].read((long) sums[PARTS * i + 2], (long) sums[PARTS * i + 3]);
    }
    return of;
  }
}
