package io.regatta.core.optim;

/**
 * Stochastic gradient descent (Robbins and Monro, "A stochastic approximation method", 1951): w -= lr · g, with the
 * decay w -= lr · (g + decay · w). Equal to MXNet's {@code sgd_update} up to the rounding of the decay. Stateless,
 * any thread.
 */
record SgdRule(Regularization regularization) implements Optimizer {

  @Override
  public int slots() {
    return 0;
  }

  @Override
  public float initialSlot(int k) {
    throw new IndexOutOfBoundsException("SGD has no slot " + k);
  }

  @Override
  public void applyWhole(float[] w, float[][] slots, float[] g, float lr, long updates) {
    float limit = regularization.limit();
    float decay = regularization.decay();
    for (int i = 0; i < w.length; i++) {
      float x = w[i];
      w[i] = x - lr * Regularization.apply(g[i], x, limit, decay);
    }
  }

  @Override
  public void apply(float[] w, int wOff, float[] s, int sOff, int slotStride, float[] g, int gOff, int n, float lr,
      long updates) {
    float limit = regularization.limit();
    float decay = regularization.decay();
    for (int i = 0; i < n; i++) {
      float x = w[wOff + i];
      w[wOff + i] = x - lr * Regularization.apply(g[gOff + i], x, limit, decay);
    }
  }
}
