package io.regatta.program.block;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;

/**
 * The pairwise part of a factorization machine (Rendle, "Factorization Machines", 2010): the sum of the inner products of
 * all pairs of an example's vectors, computed as half of (Σ v)² − Σ v², summed over the vectors' floats. Input: float32
 * {@code [batch, fields, dim]}; output: logits {@code [batch, 1]}. It has no parameters. Used on its trainer's model
 * thread.
 */
public final class FactorizationMachine extends AbstractBlock {

  @Override
  protected NDList forwardInternal(ParameterStore store, NDList inputs, boolean training,
      PairList<String, Object> params) {
    return new NDList(pairs(inputs.singletonOrThrow()));
  }

  /** Returns the sums of all pairs, {@code [batch, 1]}, of vectors {@code [batch, fields, dim]}. */
  static NDArray pairs(NDArray vectors) {
    NDArray sum = vectors.sum(new int[] {1});
    NDArray squares = vectors.square().sum(new int[] {1});
    return sum.square().sub(squares).sum(new int[] {1}, true).mul(0.5f);
  }

  /**
   * Returns the sums of all pairs for each output, {@code [batch, outputs]}. Each field has a vector for each output, side
   * by side: {@code [batch, fields, outputs × dim]}.
   */
  static NDArray pairs(NDArray vectors, int outputs) {
    if (outputs == 1) {
      return pairs(vectors);
    }
    long batch = vectors.getShape().get(0);
    NDArray each = vectors.reshape(batch, vectors.getShape().get(1), outputs, -1);
    NDArray sum = each.sum(new int[] {1});
    return sum.square().sub(each.square().sum(new int[] {1})).sum(new int[] {2}).mul(0.5f);
  }

  @Override
  public Shape[] getOutputShapes(Shape[] inputShapes) {
    return new Shape[] {new Shape(inputShapes[0].get(0), 1)};
  }
}
