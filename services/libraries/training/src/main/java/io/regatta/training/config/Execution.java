package io.regatta.training.config;

/** The way in which a model's forward and backward passes are executed. */
public enum Execution {
  /** Operator by operator, as the block's code calls them: PaddlePaddle's dynamic graph. */
  IMPERATIVE,
  /** As a graph that the engine records in the first step and then runs by itself: PaddlePaddle's static graph. */
  SYMBOLIC
}
