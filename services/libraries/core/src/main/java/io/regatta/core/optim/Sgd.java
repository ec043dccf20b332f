package io.regatta.core.optim;

/**
 * Stochastic gradient descent (Robbins and Monro, "A stochastic approximation method", 1951): w -= lr · g, with the
 * decay w -= lr · (g + decay · w). Equal to MXNet's {@code sgd_update} up to the rounding of the decay. Stateless,
 * any thread.
 */
@UpdateRule(formula = "w ← w − η·g",
    source = "Robbins and Monro 1951; with decay, MXNet's `sgd_update` up to the rounding of the decay")
public record Sgd() implements ElementwiseOptimizer {

  @Override
  public void applyWhole(float[] w, float[][] slots, float[] g, UpdateStep step) {
    float lr = step.rate();
    float limit = step.limit();
    float decay = step.decay();
    for (int i = 0; i < w.length; i++) {
      float x = w[i];
      w[i] = x - lr * UpdateStep.regularized(g[i], x, limit, decay);
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
      w[wOff + i] = x - lr * UpdateStep.regularized(g[gOff + i], x, limit, decay);
    }
  }
}
