package io.regatta.core.optim;

/**
 * What happens to a gradient element before the rule of any optimizer: clipping by value, then L2 weight decay. Both
 * are off by neutral numbers rather than by a branch, so that the loops stay straight and vectorize.
 *
 * @param limit largest absolute value of an element, infinity for no clipping
 * @param decay factor of the weight that is added to its gradient, 0 for none
 */
record Regularization(float limit, float decay) {

  static Regularization of(OptimizerSpec spec) {
    return new Regularization(spec.clipValue() > 0 ? spec.clipValue() : Float.POSITIVE_INFINITY, spec.weightDecay());
  }

  /** The regularized gradient. Static, with the fields as arguments, for the loops to hoist them. NaN stays NaN. */
  static float apply(float g, float w, float limit, float decay) {
    return Math.max(-limit, Math.min(limit, g)) + decay * w;
  }
}
