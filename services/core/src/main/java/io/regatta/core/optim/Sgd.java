package io.regatta.core.optim;

/** Stochastic gradient descent (Robbins and Monro, 1951): w -= lr · (g + wd · w), in float as MXNet's sgd_update. */
final class Sgd implements Optimizer {
  private final GradientShaping shaping;

  Sgd(OptimizerSpec spec) {
    shaping = new GradientShaping(spec);
  }

  @Override
  public int slots() {
    return 0;
  }

  @Override
  public float initialSlot(int k) {
    throw new IndexOutOfBoundsException(k);
  }

  @Override
  public void apply(float[] w, int wOff, float[] s, int sOff, int slotStride, float[] g, int gOff, int n, float lr,
      long updates) {
    for (int i = 0; i < n; i++) {
      float wi = w[wOff + i];
      w[wOff + i] = wi - lr * shaping.shape(g[gOff + i], wi);
    }
  }
}
