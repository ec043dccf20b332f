package io.regatta.data.generate;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.DoubleUnaryOperator;

/**
 * The model that labels the generated Criteo-shaped data. A click has probability
 * {@code σ(bias + scale · (D + S + P))}:
 * <ul>
 * <li>D, dense part: 13 integer features, {@code floor(exp(m + 0.6 n))} with normal n, one in ten empty; each adds its
 *     coefficient times its standardized logarithm.
 * <li>S, slot weights: 26 categorical features with 3 to 300 000 values of Zipf frequencies (exponent 1.1). Every
 *     value, rare ones too, has a normal weight, standardized per slot under the frequencies.
 * <li>P, pairwise interactions: in six pairs of slots, a product of one sign per value. Signs are standardized per slot,
 *     so that a product is uncorrelated with each of its factors: no linear model can express it.
 * </ul>
 *
 * S and P have variance 1.04 and 0.96, D has 0.29. {@code scale} and {@code bias} are found by bisection on a sample of
 * examples, for an expected AUC of the true probabilities of 0.80 and a positive rate of 0.25. All weights are pure
 * functions of (seed, slot, value) in strict arithmetic, hence equal on all platforms. Immutable; any thread may use
 * it.
 */
final class CriteoTeacher {

  static final int DENSE = 13;
  static final int SLOTS = 26;

  /** An example: dense features (-1: empty) and value ranks by slot. */
  record Example(int[] dense, int[] ranks) {
    Example() {
      this(new int[DENSE], new int[SLOTS]);
    }
  }

  private static final int[] VOCABULARY = {3, 4, 10, 15, 20, 24, 40, 60, 100, 150, 300, 500, 600, 1_000, 1_500, 2_000,
      3_000, 5_000, 8_000, 10_000, 20_000, 40_000, 80_000, 100_000, 200_000, 300_000};
  private static final int[][] PAIRS = {{2, 5}, {3, 7}, {4, 6}, {8, 9}, {2, 8}, {3, 10}};
  private static final double ZIPF_EXPONENT = 1.1;
  private static final double SLOT_DEVIATION = 0.2;
  private static final double PAIR_DEVIATION = 0.4;
  private static final double DENSE_DEVIATION = 0.15;
  private static final double LOG_DEVIATION = 0.6;
  private static final double EMPTY_RATE = 0.1;
  /** Median of each dense feature: about a third of the reader's divisor. */
  private static final double[] MEDIAN = {6, 200, 33, 16, 20_000, 160, 33, 16, 160, 3, 3, 3, 16};

  private static final double AUC_TARGET = 0.80;
  private static final double POSITIVE_RATE = 0.25;
  private static final int CALIBRATION_EXAMPLES = 20_000;

  private final long seed;
  /** Cumulative frequencies, weights (standardized) and signs (standardized) by slot. */
  private final double[][] cumulative = new double[SLOTS][];
  private final float[][] weights = new float[SLOTS][];
  private final float[][] signs = new float[SLOTS][];
  private final double[] denseWeights = new double[DENSE];
  private final double scale;
  private final double bias;

  CriteoTeacher(long seed) {
    this.seed = seed;
    for (int slot = 0; slot < SLOTS; slot++) {
      buildSlot(slot);
    }
    for (int i = 0; i < DENSE; i++) {
      denseWeights[i] = DENSE_DEVIATION * (hash(SLOTS, i, 0) < 0 ? -1 : 1);
    }
    SplittableRandom random = new SplittableRandom(hash(-1, 0, 0));
    double[] scores = new double[CALIBRATION_EXAMPLES];
    for (int i = 0; i < scores.length; i++) {
      scores[i] = score(draw(random, new Example()));
    }
    Arrays.sort(scores);
    scale = bisect(0.1, 10, candidate -> expectedAuc(scores, candidate) - AUC_TARGET);
    bias = biasFor(scores, scale);
  }

  private void buildSlot(int slot) {
    int size = VOCABULARY[slot];
    double[] frequency = new double[size];
    double total = 0;
    for (int rank = 0; rank < size; rank++) {
      frequency[rank] = StrictMath.pow(rank + 1, -ZIPF_EXPONENT);
      total += frequency[rank];
    }
    cumulative[slot] = new double[size];
    weights[slot] = new float[size];
    signs[slot] = new float[size];
    double sum = 0;
    for (int rank = 0; rank < size; rank++) {
      frequency[rank] /= total;
      sum += frequency[rank];
      cumulative[slot][rank] = sum;
      weights[slot][rank] = (float) normal(hash(slot, rank, 1), hash(slot, rank, 2));
      // The two most frequent values differ in sign, so that no slot has one sign only.
      signs[slot][rank] = rank < 2 ? 1 - 2 * rank : hash(slot, rank, 3) < 0 ? -1 : 1;
    }
    standardize(weights[slot], frequency);
    standardize(signs[slot], frequency);
  }

  private static void standardize(float[] values, double[] frequency) {
    double mean = 0;
    double square = 0;
    for (int i = 0; i < values.length; i++) {
      mean += frequency[i] * values[i];
      square += frequency[i] * values[i] * values[i];
    }
    double deviation = StrictMath.sqrt(square - mean * mean);
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) ((values[i] - mean) / deviation);
    }
  }

  /** Draws features into {@code into} and returns it. */
  Example draw(SplittableRandom random, Example into) {
    for (int i = 0; i < DENSE; i++) {
      boolean empty = random.nextDouble() < EMPTY_RATE;
      double n = normal(random.nextLong(), random.nextLong());
      into.dense()[i] = empty ? -1 : (int) StrictMath.floor(MEDIAN[i] * StrictMath.exp(LOG_DEVIATION * n));
    }
    for (int slot = 0; slot < SLOTS; slot++) {
      int found = Arrays.binarySearch(cumulative[slot], random.nextDouble());
      into.ranks()[slot] = Math.min(found >= 0 ? found : -found - 1, VOCABULARY[slot] - 1);
    }
    return into;
  }

  /** Returns the true probability of a click. */
  double probability(Example example) {
    return sigmoid(bias + scale * score(example));
  }

  private double score(Example example) {
    double score = 0;
    for (int i = 0; i < DENSE; i++) {
      if (example.dense()[i] >= 0) {
        score += denseWeights[i] * StrictMath.log((example.dense()[i] + 0.5) / MEDIAN[i]) / LOG_DEVIATION;
      }
    }
    for (int slot = 0; slot < SLOTS; slot++) {
      score += SLOT_DEVIATION * weights[slot][example.ranks()[slot]];
    }
    for (int[] pair : PAIRS) {
      score += PAIR_DEVIATION * signs[pair[0]][example.ranks()[pair[0]]] * signs[pair[1]][example.ranks()[pair[1]]];
    }
    return score;
  }

  private static double biasFor(double[] scores, double scale) {
    return bisect(-20, 20, candidate -> {
      double sum = 0;
      for (double score : scores) {
        sum += sigmoid(candidate + scale * score);
      }
      return sum / scores.length - POSITIVE_RATE;
    });
  }

  /** Returns the AUC of the true probabilities in expectation over the labels; {@code scores} ascending. */
  private static double expectedAuc(double[] scores, double scale) {
    double bias = biasFor(scores, scale);
    double negatives = 0;
    double positives = 0;
    double area = 0;
    for (double score : scores) {
      double p = sigmoid(bias + scale * score);
      area += p * (negatives + (1 - p) / 2);
      negatives += 1 - p;
      positives += p;
    }
    return area / (positives * negatives);
  }

  private static double bisect(double low, double high, DoubleUnaryOperator rising) {
    double a = low;
    double b = high;
    for (int i = 0; i < 30; i++) {
      double middle = (a + b) / 2;
      if (rising.applyAsDouble(middle) < 0) {
        a = middle;
      } else {
        b = middle;
      }
    }
    return (a + b) / 2;
  }

  private static double sigmoid(double x) {
    return 1 / (1 + StrictMath.exp(-x));
  }

  /** Returns a normal number by Box–Muller on the top 53 bits of two words. */
  private static double normal(long a, long b) {
    double u = ((a >>> 11) + 0.5) * 0x1p-53;
    double v = (b >>> 11) * 0x1p-53;
    return StrictMath.sqrt(-2 * StrictMath.log(u)) * StrictMath.cos(2 * Math.PI * v);
  }

  /** Returns a well-mixed word for (seed, slot, rank, what). */
  private long hash(int slot, int rank, int what) {
    return mix(mix(mix(seed + 0x9E3779B97F4A7C15L * (what + 1)) + slot) + rank);
  }

  /** Returns the finalizer of splitmix64 (Steele, Lea and Flood, 2014). */
  static long mix(long value) {
    long z = value + 0x9E3779B97F4A7C15L;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
