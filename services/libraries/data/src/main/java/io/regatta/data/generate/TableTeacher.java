package io.regatta.data.generate;

import java.util.List;
import java.util.SplittableRandom;

/** A model that draws the rows of a {@link GeneratedTable}: a pure function of its seed. Used by one thread. */
interface TableTeacher {

  /**
   * The rows of one file.
   *
   * @param metric name of {@code best}
   * @param best result of the model itself on these rows
   */
  record Rows(List<String> lines, String metric, double best) {}

  /** Draws rows from a random stream of their own. */
  Rows rows(int stream, int count);

  /** Returns the random numbers of one stream. */
  static SplittableRandom random(long seed, int stream) {
    return new SplittableRandom(seed * 31 + stream);
  }

  /** Returns the AUC of the probabilities with which labels were drawn. */
  static Rows binary(List<String> lines, double[] scores, boolean[] positive) {
    return new Rows(lines, "test AUC", ExactAuc.of(scores, positive));
  }

  /** Draws one of several outcomes by their cumulative probabilities, of which the last is 1. */
  static int choose(SplittableRandom random, double[] cumulative) {
    double at = random.nextDouble();
    int chosen = 0;
    while (chosen < cumulative.length - 1 && cumulative[chosen] <= at) {
      chosen++;
    }
    return chosen;
  }

  /** Returns cumulative probabilities of {@code count} outcomes, the k-th ∝ 1 / (k + 1). */
  static double[] zipf(int count) {
    double[] cumulative = new double[count];
    double sum = 0;
    for (int k = 0; k < count; k++) {
      sum += 1.0 / (k + 1);
      cumulative[k] = sum;
    }
    for (int k = 0; k < count; k++) {
      cumulative[k] /= sum;
    }
    return cumulative;
  }

  /** Returns {@code 1 / (1 + e^-x)} in strict arithmetic, the same on all platforms. */
  static double sigmoid(double x) {
    return 1 / (1 + StrictMath.exp(-x));
  }
}
