package io.regatta.core.optim;

/**
 * The values that all elements of one update have in common. Immutable.
 *
 * @param rate learning rate of this update
 * @param updates number of updates of this vector or table so far, this one included (≥ 1): Adam's bias correction
 * @param limit largest absolute value of a gradient's element, infinity for no clipping
 * @param decay weight decay, 0 for none
 */
public record UpdateStep(float rate, long updates, float limit, float decay) {

  /**
   * Returns the gradient's element as most rules take it: clipped by value, then with the L2 weight decay. NaN stays
   * NaN. It is static, with the fields as arguments, so that the loops around it can hoist them. The first test is the
   * same for all elements, so the compiler takes it out of the loop. Without it, min and max that never apply are
   * compiled to branches, and the loop does not vectorize.
   */
  static float regularized(float g, float w, float limit, float decay) {
    return clipped(g, limit) + decay * w;
  }

  /** Returns the gradient's element, clipped by value. */
  static float clipped(float g, float limit) {
    return limit < Float.POSITIVE_INFINITY ? Math.max(-limit, Math.min(limit, g)) : g;
  }
}
