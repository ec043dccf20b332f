package io.regatta.core.optim;

/**
 * Adagrad (Duchi, Hazan, Singer, "Adaptive subgradient methods for online learning and stochastic optimization", 2011),
 * diagonal form: h += g²; w -= lr · g / (√h + epsilon). One slot: h. Stateless, any thread.
 */
record AdagradRule(Regularization regularization, float epsilon, float initialAccumulator) implements Optimizer {

  @Override
  public int slots() {
    return 1;
  }

  @Override
  public float initialSlot(int k) {
    return initialAccumulator;
  }

  @Override
  public void applyWhole(float[] w, float[][] slots, float[] g, float lr, long updates) {
    float limit = regularization.limit();
    float decay = regularization.decay();
    float eps = epsilon;
    float[] s = slots[0];
    for (int i = 0; i < w.length; i++) {
      float x = w[i];
      float d = Regularization.apply(g[i], x, limit, decay);
      float h = s[i] + d * d;
      s[i] = h;
      w[i] = x - lr * d / ((float) Math.sqrt(h) + eps);
    }
  }

  @Override
  public void apply(float[] w, int wOff, float[] s, int sOff, int slotStride, float[] g, int gOff, int n, float lr,
      long updates) {
    float limit = regularization.limit();
    float decay = regularization.decay();
    float eps = epsilon;
    for (int i = 0; i < n; i++) {
      float x = w[wOff + i];
      float d = Regularization.apply(g[gOff + i], x, limit, decay);
      float h = s[sOff + i] + d * d;
      s[sOff + i] = h;
      w[wOff + i] = x - lr * d / ((float) Math.sqrt(h) + eps);
    }
  }
}
