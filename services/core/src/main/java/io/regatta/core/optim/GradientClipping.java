package io.regatta.core.optim;

/** Clipping by norm, done by the trainer over whole tensors before a push is cut over shards. */
public final class GradientClipping {

  private GradientClipping() {}

  /**
   * Scales {@code g[off .. off+n)} to an L2 norm of at most {@code maxNorm} (Pascanu et al., 2013). The norm is summed
   * in double from the first element to the last, so it does not depend on how the tensor is cut later.
   */
  public static void byNorm(float[] g, int off, int n, float maxNorm) {
    double squares = 0;
    for (int i = off; i < off + n; i++) {
      squares += (double) g[i] * g[i];
    }
    double norm = Math.sqrt(squares);
    if (norm > maxNorm) {
      float scale = (float) (maxNorm / norm);
      for (int i = off; i < off + n; i++) {
        g[i] *= scale;
      }
    }
  }
}
