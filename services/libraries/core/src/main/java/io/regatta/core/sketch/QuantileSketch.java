package io.regatta.core.sketch;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.hash.Mix64;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Quantiles of many numbers (KLL; Karnin, Lang, Liberty, "Optimal Quantile Approximation in Streams", 2016). Up to
 * {@code k} numbers they are exact; of more, ranks are within {@link #error} of the number of values with 99 %
 * confidence. A level holds numbers that count for 2^level each. A full level is sorted, and every second number of it,
 * chosen by a random bit, goes up. The bits follow from the seed. One owner.
 */
public final class QuantileSketch {

  /** Constant of the DataSketches library's KLL: a rank's single-sided error at 99 % confidence is this · k^−0.9723. */
  private static final double ERROR_FACTOR = 2.296;
  private static final double ERROR_POWER = 0.9723;
  private static final double DECAY = 2.0 / 3;
  private static final int K_MIN = 8;
  private static final int CAPACITY_MIN = 2;

  private final int k;
  private final List<Level> levels = new ArrayList<>();
  private long random;
  private long count;
  private int kept;
  /** Capacity of the levels by their distance from the highest one, and the sum of these. */
  private int[] capacities = new int[CAPACITY_MIN];
  private int counted;
  private int capacity;

  /** Numbers that count for the same; sorted except for the lowest level. */
  private static final class Level {

    private double[] items = new double[CAPACITY_MIN];
    private int size;

    void add(double value) {
      if (size == items.length) {
        items = Arrays.copyOf(items, 2 * size);
      }
      items[size++] = value;
    }
  }

  /**
   * Creates an empty sketch.
   *
   * @param k numbers that are kept exactly, 8 or more
   */
  public QuantileSketch(int k, long seed) {
    if (k < K_MIN) {
      throw new InvalidInput("a sketch of quantiles keeps " + k + " numbers: it must be " + K_MIN + " or more");
    }
    this.k = k;
    this.random = seed;
    levels.add(new Level());
  }

  /** Returns the error of ranks, as a share of the number of values, at 99 % confidence. */
  public static double error(int k) {
    return ERROR_FACTOR / StrictMath.pow(k, ERROR_POWER);
  }

  /** Adds a number, not NaN. */
  public void add(double value) {
    levels.get(0).add(value);
    count++;
    kept++;
    compress();
  }

  /** Adds the numbers of another one with the same {@code k}. */
  public void merge(QuantileSketch other) {
    if (other.k != k) {
      throw new InvalidInput("sketches of " + k + " and " + other.k + " numbers cannot be merged");
    }
    for (int level = 0; level < other.levels.size(); level++) {
      Level from = other.levels.get(level);
      for (int i = 0; i < from.size; i++) {
        level(level).add(from.items[i]);
      }
    }
    count += other.count;
    kept += other.kept;
    compress();
  }

  private Level level(int number) {
    while (levels.size() <= number) {
      levels.add(new Level());
    }
    return levels.get(number);
  }

  /** Returns the numbers that a level should hold at most. */
  private int capacity(int level) {
    return capacities[levels.size() - 1 - level];
  }

  /** Returns the numbers that all levels should hold at most. */
  private int capacity() {
    while (counted < levels.size()) {
      if (counted == capacities.length) {
        capacities = Arrays.copyOf(capacities, 2 * counted);
      }
      capacities[counted] = Math.max(CAPACITY_MIN, (int) Math.ceil(k * StrictMath.pow(DECAY, counted)));
      capacity += capacities[counted++];
    }
    return capacity;
  }

  private void compress() {
    while (kept > k && kept > capacity()) {
      for (int level = 0; level < levels.size(); level++) {
        if (levels.get(level).size > capacity(level)) {
          halve(level);
          break;
        }
      }
    }
  }

  private void halve(int number) {
    Level above = level(number + 1);
    Level level = levels.get(number);
    Arrays.sort(level.items, 0, level.size);
    int odd = level.size & 1; // the first stays if the others are no pairs
    random += Mix64.GOLDEN;
    int bit = (int) (Mix64.mix(random) >>> Long.SIZE - 1);
    for (int i = odd + bit; i < level.size; i += 2) {
      above.add(level.items[i]);
    }
    kept -= (level.size - odd) / 2;
    level.size = odd;
  }

  public long count() {
    return count;
  }

  /** Returns true if all numbers are kept. */
  public boolean isExact() {
    return kept == count;
  }

  /** A kept number and the number of values up to it. */
  private record Ranked(double[] values, long[] ranks) {}

  private Ranked ranked() {
    double[][] pairs = new double[kept][];
    int at = 0;
    for (int level = 0; level < levels.size(); level++) {
      for (int i = 0; i < levels.get(level).size; i++) {
        pairs[at++] = new double[] {levels.get(level).items[i], 1L << level};
      }
    }
    Arrays.sort(pairs, (a, b) -> Double.compare(a[0], b[0]));
    double[] values = new double[kept];
    long[] ranks = new long[kept];
    long sum = 0;
    for (int i = 0; i < kept; i++) {
      values[i] = pairs[i][0];
      sum += (long) pairs[i][1];
      ranks[i] = sum;
    }
    return new Ranked(values, ranks);
  }

  /** Returns the share of the values that are at most this one. */
  public double rank(double value) {
    Ranked ranked = ranked();
    long below = 0;
    for (int i = 0; i < ranked.values.length && ranked.values[i] <= value; i++) {
      below = ranked.ranks[i];
    }
    return count == 0 ? 0 : (double) below / count;
  }

  /** Returns the least value whose rank is {@code rank} or more, 0 to 1; NaN without values. */
  public double quantile(double rank) {
    return quantile(ranked(), rank);
  }

  private double quantile(Ranked ranked, double rank) {
    if (count == 0) {
      return Double.NaN;
    }
    long wanted = (long) Math.ceil(rank * count);
    int at = Arrays.binarySearch(ranked.ranks, wanted);
    return ranked.values[Math.min(kept - 1, at < 0 ? -at - 1 : at)];
  }

  /**
   * Returns the share of the pairs of a number of this one and a number of another in which this one's is greater; equal
   * numbers count half. This is the AUC of the numbers as scores, if this one holds those of positive examples. NaN if one
   * is empty.
   */
  public double greater(QuantileSketch other) {
    if (count == 0 || other.count == 0) {
      return Double.NaN;
    }
    Ranked mine = ranked();
    Ranked others = other.ranked();
    double pairs = 0;
    int below = 0;
    int upTo = 0;
    for (int i = 0; i < mine.values.length; i++) {
      double value = mine.values[i];
      while (below < others.values.length && others.values[below] < value) {
        below++;
      }
      upTo = Math.max(upTo, below);
      while (upTo < others.values.length && others.values[upTo] <= value) {
        upTo++;
      }
      long weight = mine.ranks[i] - (i == 0 ? 0 : mine.ranks[i - 1]);
      long less = below == 0 ? 0 : others.ranks[below - 1];
      long notMore = upTo == 0 ? 0 : others.ranks[upTo - 1];
      pairs += weight * (less + (notMore - less) / 2.0);
    }
    return pairs / ((double) mine.ranks[kept - 1] * others.ranks[other.kept - 1]);
  }

  /**
   * Returns the bounds between {@code buckets} buckets of about equal numbers of values, strictly increasing. A bucket
   * begins with its bound. Bounds that are equal are one; the least value is no bound, as nothing lies below it.
   */
  public List<Double> bounds(int buckets) {
    List<Double> bounds = new ArrayList<>();
    if (count == 0) {
      return bounds;
    }
    Ranked ranked = ranked();
    for (int i = 1; i < buckets; i++) {
      double bound = quantile(ranked, (double) i / buckets);
      double last = bounds.isEmpty() ? ranked.values[0] : bounds.get(bounds.size() - 1);
      if (bound > last) {
        bounds.add(bound);
      }
    }
    return bounds;
  }
}
