package io.regatta.core.dense;

import java.util.List;

/**
 * Σ factor · gradient of gradients of one size, in the order given; each element is added in float32 in that order. A
 * block is summed when it is read, so no array of the vector's length is held or passed over. Owned by one thread at a
 * time; the gradients' owners release them.
 */
public final class WeightedSum implements DenseValues {

  private final List<DenseValues> parts;
  private final float[] factors;
  private final float[] sum;

  /**
   * Creates a sum of at least one gradient.
   *
   * @param factors one for each part, in its order; there may be more
   */
  public WeightedSum(List<DenseValues> parts, float[] factors) {
    this.parts = List.copyOf(parts);
    this.factors = factors;
    sum = new float[Math.min(BLOCK, size())];
  }

  @Override
  public int size() {
    return parts.get(0).size();
  }

  @Override
  public float[] block(int b) {
    int n = length(b);
    scale(factors[0], parts.get(0).block(b), n); // not 0 + part: that would turn -0 into 0
    for (int p = 1; p < parts.size(); p++) {
      add(factors[p], parts.get(p).block(b), n);
    }
    return sum;
  }

  private void scale(float factor, float[] g, int n) {
    for (int i = 0; i < n; i++) {
      sum[i] = factor * g[i];
    }
  }

  private void add(float factor, float[] g, int n) {
    for (int i = 0; i < n; i++) {
      sum[i] += factor * g[i];
    }
  }
}
