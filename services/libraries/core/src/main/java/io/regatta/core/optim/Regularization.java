package io.regatta.core.optim;

/**
 * The treatment of a gradient element before the rule of any optimizer: clipping by value, then L2 weight decay.
 *
 * @param limit largest absolute value of an element, infinity for no clipping
 * @param decay factor of the weight that is added to its gradient, 0 for none
 */
record Regularization(float limit, float decay) {

  static Regularization of(OptimizerSpec spec) {
    return new Regularization(spec.clipValue() > 0 ? spec.clipValue() : Float.POSITIVE_INFINITY, spec.weightDecay());
  }

  /**
   * Returns the regularized gradient; NaN stays NaN. It is static, with the fields as arguments, so that the loops
   * around it can hoist them. The first test is the same for all elements, so the compiler takes it out of the loop.
   * Without it, min and max that never apply are compiled to branches, and the loop does not vectorize.
   */
  static float apply(float g, float w, float limit, float decay) {
    float clipped = limit < Float.POSITIVE_INFINITY ? Math.max(-limit, Math.min(limit, g)) : g;
    return clipped + decay * w;
  }
}
