package io.regatta.core.optim;

import io.regatta.core.optim.Hyperparameter.Range;
import java.util.List;

/**
 * Adam (Kingma and Ba, "Adam: a method for stochastic optimization", 2015), algorithm 1. Stateless, any thread. The
 * bias corrections are moved into the rate and the epsilon (end of its section 2), which does not change the result.
 * The rule is m = β1·m + (1-β1)·g; v = β2·v + (1-β2)·g²; w -= lr·c/(1-β1^t) · m / (√v + c·epsilon). Here c = √(1-β2^t).
 * Two slots: m, v. Rows of a sparse table change only when they have a gradient ("lazy"), while t counts the updates of
 * the whole table.
 */
@UpdateRule(formula = "m ← β₁·m + (1−β₁)·g; v ← β₂·v + (1−β₂)·g²; w ← w − η·m̂ / (√v̂ + ε) with m̂ = m / (1−β₁ᵗ), v̂ = v / (1−β₂ᵗ)",
    source = "Kingma and Ba 2015, algorithm 1")
public record Adam(
    @Hyperparameter(value = "0.9", range = Range.FRACTION, doc = "β₁, decay of the first moment.")
    float beta1,
    @Hyperparameter(value = "0.999", range = Range.FRACTION, doc = "β₂, decay of the second moment.")
    float beta2,
    @Hyperparameter(value = "1e-8", range = Range.POSITIVE, doc = "ε, added to the denominator.")
    float epsilon)
    implements ElementwiseOptimizer {

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
  public void applyWhole(float[] w, float[][] slots, float[] g, UpdateStep step) {
    float limit = step.limit();
    float decay = step.decay();
    float b1 = beta1;
    float b2 = beta2;
    float rate = rate(step);
    float eps = epsilon(step.updates());
    float[] first = slots[0];
    float[] second = slots[1];
    for (int i = 0; i < w.length; i++) {
      float x = w[i];
      float d = UpdateStep.regularized(g[i], x, limit, decay);
      float m = b1 * first[i] + (1 - b1) * d;
      float v = b2 * second[i] + (1 - b2) * (d * d);
      first[i] = m;
      second[i] = v;
      w[i] = x - rate * m / ((float) Math.sqrt(v) + eps);
    }
  }

  @Override
  public void apply(float[] w, int wOff, float[] s, int sOff, int slotStride, float[] g, int gOff, int n,
      UpdateStep step) {
    float limit = step.limit();
    float decay = step.decay();
    float rate = rate(step);
    float eps = epsilon(step.updates());
    for (int i = 0; i < n; i++) {
      float x = w[wOff + i];
      float d = UpdateStep.regularized(g[gOff + i], x, limit, decay);
      float m = beta1 * s[sOff + i] + (1 - beta1) * d;
      float v = beta2 * s[sOff + slotStride + i] + (1 - beta2) * (d * d);
      s[sOff + i] = m;
      s[sOff + slotStride + i] = v;
      w[wOff + i] = x - rate * m / ((float) Math.sqrt(v) + eps);
    }
  }

  /** Returns η · √(1-β2^t) / (1-β1^t). */
  private float rate(UpdateStep step) {
    long t = step.updates();
    return (float) (step.rate() * Math.sqrt(1 - power(beta2, t)) / (1 - power(beta1, t)));
  }

  /** Returns epsilon · √(1-β2^t). */
  private float epsilon(long t) {
    return (float) (epsilon * Math.sqrt(1 - power(beta2, t)));
  }

  /** Returns b^t by squaring: cheap enough for every row, and the same bits everywhere, unlike {@code Math.pow}. */
  static double power(double b, long t) {
    double p = 1;
    for (; t > 0; t >>= 1) {
      if ((t & 1) != 0) {
        p *= b;
      }
      b *= b;
    }
    return p;
  }
}
