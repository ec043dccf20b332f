package io.regatta.training.model;

import ai.djl.ndarray.NDList;
import java.util.function.Function;

/** The way in which forward passes of training are executed; all give the same bits. Belongs to a model thread. */
public interface TrainingForward extends AutoCloseable {

  /** Operator by operator. */
  TrainingForward IMPERATIVE = (inputs, imperative) -> imperative.apply(inputs);

  /**
   * Computes the block's outputs for these inputs (data, and labels if the block takes them).
   *
   * @param imperative the same pass, operator by operator
   */
  NDList forward(NDList inputs, Function<NDList, NDList> imperative);

  @Override
  default void close() {}
}
