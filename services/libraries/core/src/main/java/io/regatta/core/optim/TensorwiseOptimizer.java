package io.regatta.core.optim;

/**
 * An optimizer whose update of a weight depends on norms over the whole tensor that the weight belongs to. An update
 * visits the blocks of the tensor twice, each time from its first element to its last: {@link #measure} adds squares to
 * the norms, then {@link #apply} changes the weights. Variables of such an optimizer are not cut over shards.
 */
public non-sealed interface TensorwiseOptimizer extends Optimizer {

  /**
   * Visits elements {@code [from .. to)} of a block for the first time: may update the slots, leaves the weights, and adds
   * the squares of these elements to the norms.
   *
   * @param slots an array as long as {@code w} for each of {@link #slots()}
   */
  void measure(float[] w, float[][] slots, float[] g, int from, int to, UpdateStep step, TensorNorms norms);

  /**
   * Visits elements {@code [from .. to)} of a block for the second time: updates the weights.
   *
   * @param norms of the whole tensor, complete
   */
  void apply(float[] w, float[][] slots, float[] g, int from, int to, UpdateStep step, TensorNorms norms);
}
