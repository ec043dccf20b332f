package io.regatta.core.optim;

/**
 * Adam (Kingma and Ba, "Adam: a method for stochastic optimization", 2015), algorithm 1 with the bias corrections drawn
 * into the rate and the epsilon (end of its section 2, without changing the result): m = β1·m + (1-β1)·g;
 * v = β2·v + (1-β2)·g²; w -= lr·c/(1-β1^t) · m / (√v + c·epsilon), c = √(1-β2^t). Two slots: m, v. Rows of a sparse
 * table move only when they have a gradient ("lazy"), while t counts the updates of the whole table. Stateless, any
 * thread.
 */
record Adam(Regularization regularization, float beta1, float beta2, float epsilon) implements Optimizer {

  @Override
  public int slots() {
    return 2;
  }

  @Override
  public float initialSlot(int k) {
    return 0;
  }

  @Override
  public void apply(float[] w, int wOff, float[] s, int sOff, int slotStride, float[] g, int gOff, int n, float lr,
      long updates) {
    float limit = regularization.limit();
    float decay = regularization.decay();
    float b1 = beta1;
    float b2 = beta2;
    float a1 = 1 - b1;
    float a2 = 1 - b2;
    double correction = Math.sqrt(1 - power(b2, updates));
    float rate = (float) (lr * correction / (1 - power(b1, updates)));
    float eps = (float) (epsilon * correction);
    int mOff = sOff;
    int vOff = sOff + slotStride;
    for (int i = 0; i < n; i++) {
      float x = w[wOff + i];
      float d = Regularization.apply(g[gOff + i], x, limit, decay);
      float m = b1 * s[mOff + i] + a1 * d;
      float v = b2 * s[vOff + i] + a2 * (d * d);
      s[mOff + i] = m;
      s[vOff + i] = v;
      w[wOff + i] = x - rate * m / ((float) Math.sqrt(v) + eps);
    }
  }

  /** b^t by squaring: cheap enough for every row, and the same bits everywhere, unlike {@code Math.pow}. */
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
