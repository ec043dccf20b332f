package io.regatta.program.block;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.nn.Activation;
import ai.djl.training.loss.Loss;

/**
 * The log loss of logits z and labels y, the mean over the batch of softplus(z) − z·y. Its gradient is σ(z) − y for any z.
 * DJL's sigmoid cross entropy, a sum of relu(z) and |z|, has −y where z is 0: everywhere in the first step of a linear
 * model that starts at 0. Used on the model thread.
 */
public final class LogitLoss extends Loss {

  public LogitLoss(String name) {
    super(name);
  }

  @Override
  public NDArray evaluate(NDList labels, NDList predictions) {
    NDArray logits = predictions.singletonOrThrow();
    NDArray y = labels.singletonOrThrow().reshape(logits.getShape());
    return Activation.softPlus(logits).sub(logits.mul(y)).mean();
  }
}
