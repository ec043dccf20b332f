package io.regatta.core.optim;

/**
 * SGD with momentum (Polyak, 1964): v = momentum · v + g; w -= lr · v. Nesterov's form (Sutskever et al., 2013) steps
 * by g + momentum · v instead. One slot: v. As in Paddle, the rate is outside the velocity.
 */
final class Momentum implements Optimizer {
  private final GradientShaping shaping;
  private final float momentum;
  private final boolean nesterov;

  Momentum(OptimizerSpec spec) {
    shaping = new GradientShaping(spec);
    momentum = spec.momentum();
    nesterov = spec.nesterov();
  }

  @Override
  public int slots() {
    return 1;
  }

  @Override
  public float initialSlot(int k) {
    return 0;
  }

  @Override
  public void apply(float[] w, int wOff, float[] s, int sOff, int slotStride, float[] g, int gOff, int n, float lr,
      long updates) {
    float look = nesterov ? momentum : 0;
    for (int i = 0; i < n; i++) {
      float wi = w[wOff + i];
      float gi = shaping.shape(g[gOff + i], wi);
      float v = momentum * s[sOff + i] + gi;
      s[sOff + i] = v;
      w[wOff + i] = wi - lr * (nesterov ? gi + look * v : v);
    }
  }
}
