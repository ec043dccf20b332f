package io.regatta.core.optim;

/** Adagrad (Duchi, Hazan and Singer, 2011): a += g²; w -= lr · g / (√a + epsilon). One slot: a. */
final class Adagrad implements Optimizer {
  private final GradientShaping shaping;
  private final float epsilon;
  private final float initial;

  Adagrad(OptimizerSpec spec) {
    shaping = new GradientShaping(spec);
    epsilon = spec.epsilon();
    initial = spec.initialAccumulator();
  }

  @Override
  public int slots() {
    return 1;
  }

  @Override
  public float initialSlot(int k) {
    return initial;
  }

  @Override
  public void apply(float[] w, int wOff, float[] s, int sOff, int slotStride, float[] g, int gOff, int n, float lr,
      long updates) {
    for (int i = 0; i < n; i++) {
      float wi = w[wOff + i];
      float gi = shaping.shape(g[gOff + i], wi);
      float a = s[sOff + i] + gi * gi;
      s[sOff + i] = a;
      w[wOff + i] = wi - lr * gi / ((float) Math.sqrt(a) + epsilon);
    }
  }
}
