package io.regatta.training.config;

/** How a model's forward and backward passes are carried out. */
public enum Execution {
  /** Operator by operator, as the block's code calls them: PaddlePaddle's dynamic graph. */
  IMPERATIVE,
  /** As a graph, which the engine has recorded in the first step and then runs by itself: PaddlePaddle's static graph. */
  SYMBOLIC
}
