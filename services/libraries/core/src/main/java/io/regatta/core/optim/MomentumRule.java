package io.regatta.core.optim;

/**
 * Momentum, in two forms. One slot: v. Stateless, any thread. The heavy ball is v = momentum · v + g; w -= lr · v
 * (Polyak, "Some methods of speeding up the convergence of iteration methods", 1964). Nesterov's form (1983) is w -= lr
 * · (g + momentum · v). Sutskever et al. write it so ("On the importance of initialization and momentum in deep
 * learning", 2013). The rate is outside the velocity, as in Paddle and PyTorch; MXNet keeps it inside, which is the
 * same only at a constant rate.
 */
record MomentumRule(Regularization regularization, float momentum, boolean nesterov) implements Optimizer {

  @Override
  public int slots() {
    return 1;
  }

  @Override
  public float initialSlot(int k) {
    return 0;
  }

  @Override
  public void applyWhole(float[] w, float[][] slots, float[] g, float lr, long updates) {
    float limit = regularization.limit();
    float decay = regularization.decay();
    float mu = momentum;
    float[] s = slots[0];
    if (nesterov) {
      for (int i = 0; i < w.length; i++) {
        float x = w[i];
        float d = Regularization.apply(g[i], x, limit, decay);
        float v = mu * s[i] + d;
        s[i] = v;
        w[i] = x - lr * (d + mu * v);
      }
    } else {
      for (int i = 0; i < w.length; i++) {
        float x = w[i];
        float v = mu * s[i] + Regularization.apply(g[i], x, limit, decay);
        s[i] = v;
        w[i] = x - lr * v;
      }
    }
  }

  @Override
  public void apply(float[] w, int wOff, float[] s, int sOff, int slotStride, float[] g, int gOff, int n, float lr,
      long updates) {
    for (int i = 0; i < n; i++) {
      float x = w[wOff + i];
      float d = Regularization.apply(g[gOff + i], x, regularization.limit(), regularization.decay());
      float v = momentum * s[sOff + i] + d;
      s[sOff + i] = v;
      w[wOff + i] = x - lr * (nesterov ? d + momentum * v : v);
    }
  }
}
