package io.regatta.core.optim;

import io.regatta.core.optim.Hyperparameter.Range;
import java.util.List;

/**
 * LARS (You, Gitman and Ginsburg, "Large batch training of convolutional networks", 2017, algorithm 1), PaddlePaddle's
 * {@code lars_momentum}. The rate, times a trust ratio of each tensor, is inside the velocity. One slot: v. Stateless,
 * any thread.
 */
@UpdateRule(formula = "v ← μ·v + η·r·(g + λ·w); w ← w − v, with λ = `weight_decay`, r = c·‖w‖ / (‖g‖ + λ·‖w‖ + ε), or 1 if "
    + "one of the norms is 0", source = "You, Gitman, Ginsburg 2017, algorithm 1")
public record Lars(
    @Hyperparameter(value = "0.9", range = Range.FRACTION, doc = "Factor μ of the velocity.")
    float momentum,
    @Hyperparameter(value = "0.001", range = Range.POSITIVE, doc = "c, the paper's η; Paddle's lars_coeff.")
    float trustCoefficient,
    @Hyperparameter(value = "0", doc = "ε, added to the denominator of r.")
    float epsilon,
    @Hyperparameter(value = "0", doc = "Upper limit of r. 0: none.")
    float maxTrustRatio,
    @Hyperparameter(value = "true", doc = "Variables of at most one dimension, such as biases and those of batch normalization, "
        + "have λ = 0 and r = 1.")
    boolean excludeVectors)
    implements TensorwiseOptimizer {

  private static final List<Slot> SLOTS = List.of(new Slot("v", 0));

  @Override
  public List<Slot> slots() {
    return SLOTS;
  }

  @Override
  public void measure(float[] w, float[][] slots, float[] g, int from, int to, UpdateStep step, TensorNorms norms) {
    if (isExcluded(norms)) {
      return;
    }
    float limit = step.limit();
    double weights = norms.weights;
    double updates = norms.updates;
    for (int i = from; i < to; i++) {
      double x = w[i];
      double d = UpdateStep.clipped(g[i], limit);
      weights += x * x;
      updates += d * d;
    }
    norms.weights = weights;
    norms.updates = updates;
  }

  @Override
  public void apply(float[] w, float[][] slots, float[] g, int from, int to, UpdateStep step, TensorNorms norms) {
    boolean excluded = isExcluded(norms);
    float limit = step.limit();
    float decay = excluded ? 0 : step.decay();
    float rate = excluded ? step.rate()
        : step.rate() * norms.trustRatio(trustCoefficient, decay, epsilon, maxTrustRatio);
    float mu = momentum;
    float[] velocity = slots[0];
    for (int i = from; i < to; i++) {
      float v = mu * velocity[i] + rate * UpdateStep.regularized(g[i], w[i], limit, decay);
      velocity[i] = v;
      w[i] -= v;
    }
  }

  private boolean isExcluded(TensorNorms norms) {
    return excludeVectors && norms.isVector();
  }
}
