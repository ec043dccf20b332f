package io.regatta.core.optim;

/**
 * An optimizer whose update of a weight depends on norms over the whole tensor that the weight belongs to. An update has
 * two passes over the tensor's parts, wherever they lie: {@link #measure} adds up sums of squares, and after the sums of
 * all parts have been added, {@link #apply} changes the weights. Parts may be measured and applied in any order.
 */
public non-sealed interface TensorwiseOptimizer extends Optimizer {

  /** Number of sums that a tensor has. */
  int SUMS = 2;

  /**
   * Makes the first pass over elements {@code [from .. to)} of a block: updates the slots, but no weight, and adds this
   * part's sums to {@code sums[at .. at+SUMS)}.
   *
   * @param slots an array as long as {@code w} for each of {@link #slots()}
   */
  void measure(float[] w, float[][] slots, float[] g, int from, int to, UpdateStep step, double[] sums, int at);

  /**
   * Makes the second pass over elements {@code [from .. to)} of a block that has been measured: updates the weights.
   *
   * @param sums of the whole tensor, from index {@code at}
   */
  void apply(float[] w, float[][] slots, float[] g, int from, int to, UpdateStep step, double[] sums, int at);
}
