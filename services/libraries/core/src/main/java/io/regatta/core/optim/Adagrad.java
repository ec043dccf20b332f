package io.regatta.core.optim;

import io.regatta.core.optim.Hyperparameter.Range;
import java.util.List;

/**
 * Adagrad (Duchi, Hazan, Singer, "Adaptive subgradient methods for online learning and stochastic optimization", 2011),
 * diagonal form: h += g²; w -= lr · g / (√h + epsilon). One slot: h. Stateless, any thread.
 */
@UpdateRule(formula = "h ← h + g²; w ← w − η·g / (√h + ε)", source = "Duchi, Hazan, Singer 2011")
public record Adagrad(
    @Hyperparameter(value = "1e-6", range = Range.POSITIVE, doc = "ε, added to the denominator.")
    float epsilon,
    @Hyperparameter(value = "0", doc = "Value that h starts with.")
    float initialAccumulator)
    implements ElementwiseOptimizer {

  @Override
  public List<Slot> slots() {
    return List.of(new Slot("h", initialAccumulator));
  }

  @Override
  public void applyWhole(float[] w, float[][] slots, float[] g, UpdateStep step) {
    float lr = step.rate();
    float limit = step.limit();
    float decay = step.decay();
    float eps = epsilon;
    float[] s = slots[0];
    for (int i = 0; i < w.length; i++) {
      float x = w[i];
      float d = UpdateStep.regularized(g[i], x, limit, decay);
      float h = s[i] + d * d;
      s[i] = h;
      w[i] = x - lr * d / ((float) Math.sqrt(h) + eps);
    }
  }

  @Override
  public void apply(float[] w, int wOff, float[] s, int sOff, int slotStride, float[] g, int gOff, int n,
      UpdateStep step) {
    float lr = step.rate();
    float limit = step.limit();
    float decay = step.decay();
    float eps = epsilon;
    for (int i = 0; i < n; i++) {
      float x = w[wOff + i];
      float d = UpdateStep.regularized(g[gOff + i], x, limit, decay);
      float h = s[sOff + i] + d * d;
      s[sOff + i] = h;
      w[wOff + i] = x - lr * d / ((float) Math.sqrt(h) + eps);
    }
  }
}
