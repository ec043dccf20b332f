package io.regatta.program.block;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.nn.Activation;
import ai.djl.training.loss.Loss;
import java.util.Arrays;

/**
 * The negative sampling loss −log σ(s₀) − Σ log σ(−sₖ) of scores {@code [batch, 1 + negatives]}, averaged over the
 * batch (Mikolov et al., 2013). The first score is that of the word in the text. Labels are ignored. Used on the model
 * thread.
 */
public final class NegativeSamplingLoss extends Loss {

  public NegativeSamplingLoss(String name) {
    super(name);
  }

  @Override
  public NDArray evaluate(NDList labels, NDList predictions) {
    NDArray scores = predictions.singletonOrThrow();
    float[] signs = new float[(int) scores.getShape().get(1)];
    Arrays.fill(signs, 1);
    signs[0] = -1;
    return Activation.softPlus(scores.mul(scores.getManager().create(signs))).sum(new int[] {1}).mean();
  }
}
