package io.regatta.training.run;

import io.regatta.core.collective.ReduceOp;
import io.regatta.core.reduce.Elementwise;
import java.nio.DoubleBuffer;
import java.util.Arrays;
import java.util.List;

/**
 * The arithmetic of an all-reduce: first the replicas of a rank, then the ranks, each in order, so that all get the
 * same bits. A mean is sent as a sum followed by its count. Stateless.
 */
final class Reduction {

  private Reduction() {}

  /** Returns a rank's replicas combined, which is what the rank sends. */
  static double[] replicas(ReduceOp op, List<double[]> values) {
    double[] sum = elementwise(op).reduce(values.stream().map(DoubleBuffer::wrap).toList());
    if (op != ReduceOp.MEAN) {
      return sum;
    }
    double[] counted = Arrays.copyOf(sum, sum.length + 1);
    counted[sum.length] = values.size();
    return counted;
  }

  /** Returns the elementwise operation that combines ranks, and a rank's replicas. */
  static Elementwise elementwise(ReduceOp op) {
    return switch (op) {
      case SUM, MEAN -> Elementwise.SUM;
      case MIN -> Elementwise.MIN;
      case MAX -> Elementwise.MAX;
    };
  }

  /** Returns the result that all get. */
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
