package io.regatta.training.cut;

import ai.djl.ndarray.NDList;
import ai.djl.nn.Block;
import java.util.function.BinaryOperator;

/**
 * The cut of a network, for jobs with workers of two kinds (the section {@code heter} of a job). Without heter workers
 * a marked block is computed where it is. Its parameters have the names that they have without the mark. Stateless.
 */
public final class Heter {

  private Heter() {}

  /**
   * Marks the part of a network that heter workers compute in training, and the loss after it. A network has at most
   * one. Its outputs are the network's outputs, and its parameters are used nowhere else.
   *
   * @param block takes arrays whose first dimension is the batch
   */
  public static RemoteBlock remote(Block block) {
    return new RemoteBlock(block, Integer.MAX_VALUE, (outputs, others) -> outputs);
  }

  /**
   * Marks a part of a network whose block does not compute the network's outputs alone: a function does so from the
   * block's outputs and further inputs of the part. Arrays before the cut on which several inputs depend get the same
   * bits as in one piece if the function adds the block's outputs to the others, in this order.
   *
   * @param inputs number of the part's first inputs that are the block's
   * @param rest computes the network's outputs from the block's outputs and the part's other inputs, without parameters
   */
  public static RemoteBlock remote(Block block, int inputs, BinaryOperator<NDList> rest) {
    return new RemoteBlock(block, inputs, rest);
  }
}
