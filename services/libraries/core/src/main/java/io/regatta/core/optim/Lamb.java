package io.regatta.core.optim;

import io.regatta.core.optim.Hyperparameter.Range;
import java.util.List;

/**
 * LAMB (You et al., "Large batch optimization for deep learning: training BERT in 76 minutes", 2019, algorithm 2), with
 * φ(z) = z. The direction u is Adam's with bias corrections, plus the weight decay, which is not in the gradient. Two
 * slots: m, v. Stateless, any thread.
 *
 * <p>The first visit updates m and v and measures w and u. The second one computes u again from m, v and w, by the same
 * operations, so that it need not be kept.
 */
@UpdateRule(formula = "m ← β₁·m + (1−β₁)·g; v ← β₂·v + (1−β₂)·g²; u = m̂ / (√v̂ + ε) + λ·w; w ← w − η·r·u, with "
    + "λ = `weight_decay`, m̂ = m / (1−β₁ᵗ), v̂ = v / (1−β₂ᵗ), r = ‖w‖ / ‖u‖, or 1 if one of them is 0",
    source = "You et al. 2019, algorithm 2")
public record Lamb(
    @Hyperparameter(value = "0.9", range = Range.FRACTION, doc = "β₁, decay of the first moment.")
    float beta1,
    @Hyperparameter(value = "0.999", range = Range.FRACTION, doc = "β₂, decay of the second moment.")
    float beta2,
    @Hyperparameter(value = "1e-6", range = Range.POSITIVE, doc = "ε, added to the denominator.")
    float epsilon,
    @Hyperparameter(value = "0", doc = "Upper limit of r. 0: none.")
    float maxTrustRatio,
    @Hyperparameter(value = "true", doc = "Variables of at most one dimension, such as biases and those of batch normalization, "
        + "have λ = 0 and r = 1.")
    boolean excludeVectors)
    implements TensorwiseOptimizer {

  private static final List<Slot> SLOTS = List.of(new Slot("m", 0), new Slot("v", 0));

  @Override
  public List<Slot> slots() {
    return SLOTS;
  }

  @Override
  public boolean magnifiesRounding() {
    return true;
  }

  @Override
  public void measure(float[] w, float[][] slots, float[] g, int from, int to, UpdateStep step, TensorNorms norms) {
    float limit = step.limit();
    float b1 = beta1;
    float b2 = beta2;
    float[] first = slots[0];
    float[] second = slots[1];
    for (int i = from; i < to; i++) {
      float d = UpdateStep.clipped(g[i], limit);
      first[i] = b1 * first[i] + (1 - b1) * d;
      second[i] = b2 * second[i] + (1 - b2) * (d * d);
    }
    if (isExcluded(norms)) {
      return;
    }
    float decay = step.decay();
    float c1 = correction(beta1, step);
    float c2 = correction(beta2, step);
    float eps = epsilon;
    double weights = norms.weights;
    double updates = norms.updates;
    for (int i = from; i < to; i++) {
      double x = w[i];
      double u = direction(first[i], second[i], w[i], c1, c2, eps, decay);
      weights += x * x;
      updates += u * u;
    }
    norms.weights = weights;
    norms.updates = updates;
  }

  @Override
  public void apply(float[] w, float[][] slots, float[] g, int from, int to, UpdateStep step, TensorNorms norms) {
    boolean excluded = isExcluded(norms);
    float rate = excluded ? step.rate() : step.rate() * norms.trustRatio(1, 0, 0, maxTrustRatio);
    float decay = excluded ? 0 : step.decay();
    float c1 = correction(beta1, step);
    float c2 = correction(beta2, step);
    float eps = epsilon;
    float[] first = slots[0];
    float[] second = slots[1];
    for (int i = from; i < to; i++) {
      w[i] -= rate * direction(first[i], second[i], w[i], c1, c2, eps, decay);
    }
  }

  private boolean isExcluded(TensorNorms norms) {
    return excludeVectors && norms.isVector();
  }

  private static float direction(float m, float v, float w, float c1, float c2, float eps, float decay) {
    return m * c1 / ((float) Math.sqrt(v * c2) + eps) + decay * w;
  }

  /** Returns 1 / (1-b^t). */
  private static float correction(float b, UpdateStep step) {
    return (float) (1 / (1 - Adam.power(b, step.updates())));
  }
}
