package io.regatta.core.optim;

import io.regatta.core.optim.Hyperparameter.Range;
import java.util.List;

/**
 * Momentum, in two forms. One slot: v. Stateless, any thread. The heavy ball is v = momentum · v + g; w -= lr · v
 * (Polyak, "Some methods of speeding up the convergence of iteration methods", 1964). Nesterov's form (1983) is w -= lr
 * · (g + momentum · v). Sutskever et al. write it so ("On the importance of initialization and momentum in deep
 * learning", 2013). The rate is outside the velocity, as in Paddle and PyTorch; MXNet keeps it inside, which is the
 * same only at a constant rate.
 */
@UpdateRule(formula = "v ← μ·v + g; w ← w − η·v, with `nesterov` w ← w − η·(g + μ·v)",
    source = "Polyak 1964; Nesterov 1983, in the form of Sutskever et al. 2013")
public record Momentum(
    @Hyperparameter(value = "0.9", range = Range.FRACTION, doc = "Factor μ of the velocity.")
    float momentum,
    @Hyperparameter(value = "false", doc = "Nesterov's form.")
    boolean nesterov)
    implements ElementwiseOptimizer {

  private static final List<Slot> SLOTS = List.of(new Slot("v", 0));

  @Override
  public List<Slot> slots() {
    return SLOTS;
  }

  @Override
  public void applyWhole(float[] w, float[][] slots, float[] g, UpdateStep step) {
    float lr = step.rate();
    float limit = step.limit();
    float decay = step.decay();
    float mu = momentum;
    float[] s = slots[0];
    if (nesterov) {
      for (int i = 0; i < w.length; i++) {
        float x = w[i];
        float d = UpdateStep.regularized(g[i], x, limit, decay);
        float v = mu * s[i] + d;
        s[i] = v;
        w[i] = x - lr * (d + mu * v);
      }
    } else {
      for (int i = 0; i < w.length; i++) {
        float x = w[i];
        float v = mu * s[i] + UpdateStep.regularized(g[i], x, limit, decay);
        s[i] = v;
        w[i] = x - lr * v;
      }
    }
  }

  @Override
  public void apply(float[] w, int wOff, float[] s, int sOff, int slotStride, float[] g, int gOff, int n,
      UpdateStep step) {
    float lr = step.rate();
    float limit = step.limit();
    float decay = step.decay();
    for (int i = 0; i < n; i++) {
      float x = w[wOff + i];
      float d = UpdateStep.regularized(g[gOff + i], x, limit, decay);
      float v = momentum * s[sOff + i] + d;
      s[sOff + i] = v;
      w[wOff + i] = x - lr * (nesterov ? d + momentum * v : v);
    }
  }
}
