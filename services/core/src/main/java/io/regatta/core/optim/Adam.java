package io.regatta.core.optim;

/**
 * Adam (Kingma and Ba, 2015), with the bias correction folded into the rate: lr_t = lr · √(1 - beta2^t) / (1 - beta1^t),
 * w -= lr_t · m / (√v + epsilon). t is the table's update count, so a sparse row that is seldom seen is corrected as
 * Paddle's lazy_mode does. Two slots: m, v.
 */
final class Adam implements Optimizer {
  private final GradientShaping shaping;
  private final float beta1;
  private final float beta2;
  private final float epsilon;

  Adam(OptimizerSpec spec) {
    shaping = new GradientShaping(spec);
    beta1 = spec.beta1();
    beta2 = spec.beta2();
    epsilon = spec.epsilon();
  }

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
    float rate = (float) (lr * Math.sqrt(1 - Math.pow(beta2, updates)) / (1 - Math.pow(beta1, updates)));
    int vOff = sOff + slotStride;
    for (int i = 0; i < n; i++) {
      float wi = w[wOff + i];
      float gi = shaping.shape(g[gOff + i], wi);
      float m = beta1 * s[sOff + i] + (1 - beta1) * gi;
      float v = beta2 * s[vOff + i] + (1 - beta2) * gi * gi;
      s[sOff + i] = m;
      s[vOff + i] = v;
      w[wOff + i] = wi - rate * m / ((float) Math.sqrt(v) + epsilon);
    }
  }
}
