package io.regatta.program.block;

import ai.djl.training.loss.Loss;

/** A block that knows what its training loss has beside the loss of its outputs. */
public interface BlockLoss {

  /**
   * Returns the loss to train with.
   *
   * @param ofOutputs the loss of the outputs, a mean over the examples of a batch
   */
  Loss over(Loss ofOutputs);
}
