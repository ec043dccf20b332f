package io.regatta.core.optim;

/**
 * Clipping of a whole gradient by its L2 norm (Pascanu, Mikolov, Bengio, "On the difficulty of training recurrent
 * neural networks", 2013), per variable. Done by the trainer before a push, over the whole tensor, so that the result
 * does not depend on how many shards the tensor lies on. Stateless, any thread.
 */
public final class GradientClipping {

  private GradientClipping() {}

  /**
   * Scales {@code g[off .. off+n)} to an L2 norm of at most {@code maxNorm}; leaves it as it is if the norm is within
   * the limit, or not finite: NaN and infinity are for the NaN policy to see.
   *
   * @param maxNorm limit; 0 or less: off
   * @return the norm before scaling
   */
  public static double byNorm(float[] g, int off, int n, float maxNorm) {
    double norm = norm(g, off, n);
    if (maxNorm > 0 && norm > maxNorm && norm < Double.POSITIVE_INFINITY) {
      float factor = (float) (maxNorm / norm);
      for (int i = off; i < off + n; i++) {
        g[i] *= factor;
      }
    }
    return norm;
  }

  /**
   * Returns the L2 norm, accumulated in double. The order is part of the contract. Element i goes to sum i mod 4, so
   * that four additions run at the same time; the result is (s0 + s1) + (s2 + s3).
   */
  public static double norm(float[] g, int off, int n) {
    double s0 = 0;
    double s1 = 0;
    double s2 = 0;
    double s3 = 0;
    int i = 0;
    for (; i + 4 <= n; i += 4) {
      s0 += square(g[off + i]);
      s1 += square(g[off + i + 1]);
      s2 += square(g[off + i + 2]);
      s3 += square(g[off + i + 3]);
    }
    s0 += i < n ? square(g[off + i]) : 0;
    s1 += i + 1 < n ? square(g[off + i + 1]) : 0;
    s2 += i + 2 < n ? square(g[off + i + 2]) : 0;
    return Math.sqrt((s0 + s1) + (s2 + s3));
  }

  private static double square(double x) {
    return x * x;
  }
}
