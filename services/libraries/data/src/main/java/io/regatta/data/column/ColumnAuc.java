package io.regatta.data.column;

import io.regatta.core.hash.Mix64;
import io.regatta.core.sketch.QuantileSketch;
import java.util.Arrays;

/**
 * The AUC that one column alone reaches for a binary label: the larger one of two scores. The first is the number itself,
 * rising or falling. The second is the share of positive rows with the same value. Values share {@value #BUCKETS} buckets by
 * hash, and shares of one half of the rows are scores of the other half, so that values of one row each give nothing away. Of
 * columns with more values it says too little rather than too much. One owner.
 */
final class ColumnAuc {

  private static final int BUCKETS = 1024;
  /** Counts of a bucket: negative and positive rows of each half. */
  private static final int COUNTS = 4;
  private static final int SKETCH_K = 1 << 9;
  private static final double PRIOR_WEIGHT = 1;

  private final long[] counts = new long[BUCKETS * COUNTS];
  private final QuantileSketch[] numbers;

  ColumnAuc(long seed) {
    numbers = new QuantileSketch[] {new QuantileSketch(SKETCH_K, seed), new QuantileSketch(SKETCH_K, ~seed)};
  }

  /**
   * Adds a row.
   *
   * @param hash of the value
   * @param number NaN if it is none
   * @param label 0 or 1
   * @param row number of the row, by which it falls into one half
   */
  void add(long hash, double number, int label, long row) {
    int half = (int) (Mix64.mix(row) & 1);
    counts[(int) (hash & BUCKETS - 1) * COUNTS + 2 * half + label]++;
    if (number == number) {
      numbers[label].add(number);
    }
  }

  void merge(ColumnAuc other) {
    for (int i = 0; i < counts.length; i++) {
      counts[i] += other.counts[i];
    }
    numbers[0].merge(other.numbers[0]);
    numbers[1].merge(other.numbers[1]);
  }

  /**
   * Returns the AUC, 0.5 to 1; NaN without rows of both classes.
   *
   * @param ordered true if the values are numbers
   */
  double value(boolean ordered) {
    double shared = (ofShares(0) + ofShares(1)) / 2;
    double rising = ordered ? numbers[1].greater(numbers[0]) : Double.NaN;
    double best = Double.isNaN(rising) ? shared : Math.max(shared, Math.max(rising, 1 - rising));
    return Double.isNaN(best) ? best : Math.max(0.5, best);
  }

  /** Returns the AUC of one half of the rows, with shares of the other one as scores. */
  private double ofShares(int half) {
    long positive = 0;
    long negative = 0;
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
      negative += count(bucket, 1 - half, 0);
      positive += count(bucket, 1 - half, 1);
    }
    double prior = (double) positive / Math.max(1, positive + negative);
    long[] order = new long[BUCKETS];
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
      double share = (count(bucket, 1 - half, 1) + PRIOR_WEIGHT * prior)
          / (count(bucket, 1 - half, 0) + count(bucket, 1 - half, 1) + PRIOR_WEIGHT);
      order[bucket] = ((long) Float.floatToIntBits((float) share) << Integer.SIZE) + bucket; // floats from 0 on sort as their bits
    }
    Arrays.sort(order);
    double pairs = 0;
    long negativesBefore = 0;
    long positives = 0;
    for (int from = 0; from < BUCKETS; ) {
      long equalPositives = 0;
      long equalNegatives = 0;
      int to = from;
      for (; to < BUCKETS && order[to] >>> Integer.SIZE == order[from] >>> Integer.SIZE; to++) {
        equalNegatives += count((int) order[to], half, 0);
        equalPositives += count((int) order[to], half, 1);
      }
      pairs += equalPositives * (negativesBefore + equalNegatives / 2.0);
      negativesBefore += equalNegatives;
      positives += equalPositives;
      from = to;
    }
    return pairs / ((double) positives * negativesBefore); // NaN without pairs
  }

  private long count(int bucket, int half, int label) {
    return counts[bucket * COUNTS + 2 * half + label];
  }
}
