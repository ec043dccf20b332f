package io.regatta.data.generate;

import java.util.Arrays;

/** The area under the ROC curve from ranks (Mann–Whitney U), ties counted half. Stateless; any thread may use it. */
final class ExactAuc {

  private ExactAuc() {}

  /**
   * Returns the probability that a positive scores above a negative; 0.5 if a class is missing. Sorts in O(n log n).
   */
  static double of(double[] scores, boolean[] positive) {
    double[] positives = pick(scores, positive, true);
    double[] negatives = pick(scores, positive, false);
    if (positives.length == 0 || negatives.length == 0) {
      return 0.5;
    }
    double pairs = 0;
    int below = 0;
    int notAbove = 0;
    for (double score : positives) {
      while (below < negatives.length && negatives[below] < score) {
        below++;
      }
      while (notAbove < negatives.length && negatives[notAbove] <= score) {
        notAbove++;
      }
      pairs += (below + notAbove) / 2.0;
    }
    return pairs / positives.length / negatives.length;
  }

  private static double[] pick(double[] scores, boolean[] positive, boolean wanted) {
    double[] picked = new double[scores.length];
    int count = 0;
    for (int i = 0; i < scores.length; i++) {
      if (positive[i] == wanted) {
        picked[count++] = scores[i];
      }
    }
    double[] sorted = Arrays.copyOf(picked, count);
    Arrays.sort(sorted);
    return sorted;
  }
}
