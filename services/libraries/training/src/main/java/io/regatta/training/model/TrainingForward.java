package io.regatta.training.model;

import ai.djl.ndarray.NDList;
import java.util.function.Function;

/** How the forward passes of training are carried out; both ways give the same bits. Belongs to a model thread. */
public interface TrainingForward extends AutoCloseable {

  /** Operator by operator. */
  TrainingForward IMPERATIVE = (inputs, imperative) -> imperative.apply(inputs);

  /**
   * Computes the block's outputs for these inputs (data, and labels where the block takes them).
   *
   * @param imperative the same pass, operator by operator
   */
  NDList forward(NDList inputs, Function<NDList, NDList> imperative);

  @Override
  default void close() {}
}
