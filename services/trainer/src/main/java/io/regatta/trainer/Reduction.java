package io.regatta.trainer;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.Arrays;
import java.util.List;

/**
 * The arithmetic of an all-reduce: first the replicas of a rank, then the ranks, each in order, so that everybody gets
 * the same bits. A mean travels as a sum with its count behind it.
 */
final class Reduction {

  private Reduction() {}

  /** A rank's replicas combined; what the rank sends. */
  static double[] replicas(ReduceOp op, List<double[]> values) {
    double[] sum = ranks(op, values);
    if (op != ReduceOp.MEAN) {
      return sum;
    }
    double[] counted = Arrays.copyOf(sum, sum.length + 1);
    counted[sum.length] = values.size();
    return counted;
  }

  /** What the ranks sent, combined. */
  static double[] ranks(ReduceOp op, List<double[]> values) {
    double[] out = values.get(0).clone();
    for (double[] more : values.subList(1, values.size())) {
      if (more.length != out.length) {
        throw new InvalidInput("all-reduce: a trainer gave " + more.length + " values, another " + out.length
            + "; all must give the same number, and reach the same calls in the same order");
      }
      for (int i = 0; i < out.length; i++) {
        out[i] = switch (op) {
          case SUM, MEAN -> out[i] + more[i];
          case MIN -> Math.min(out[i], more[i]);
          case MAX -> Math.max(out[i], more[i]);
        };
      }
    }
    return out;
  }

  /** The result that everybody gets. */
  static double[] finish(ReduceOp op, double[] combined) {
    if (op != ReduceOp.MEAN) {
      return combined;
    }
    double[] mean = Arrays.copyOf(combined, combined.length - 1);
    for (int i = 0; i < mean.length; i++) {
      mean[i] /= combined[combined.length - 1];
    }
    return mean;
  }
}
