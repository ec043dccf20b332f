package io.regatta.training.run;

import io.regatta.core.collective.ReduceOp;
import io.regatta.core.reduce.Elementwise;
import java.nio.DoubleBuffer;
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
    double[] sum = elementwise(op).reduce(values.stream().map(DoubleBuffer::wrap).toList());
    if (op != ReduceOp.MEAN) {
      return sum;
    }
    double[] counted = Arrays.copyOf(sum, sum.length + 1);
    counted[sum.length] = values.size();
    return counted;
  }

  /** How ranks' arrays, and a rank's replicas', become one. */
  static Elementwise elementwise(ReduceOp op) {
    return switch (op) {
      case SUM, MEAN -> Elementwise.SUM;
      case MIN -> Elementwise.MIN;
      case MAX -> Elementwise.MAX;
    };
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
