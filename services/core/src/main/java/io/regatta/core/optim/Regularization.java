package io.regatta.core.optim;

/**
 * The treatment of a gradient element before the rule of any optimizer: clipping by value, then weight decay.
 *
 * @param weightDecay factor of the weight that is added to its gradient; 0: none
 * @param clipValue largest absolute value of an element; 0: no clipping
 */
public record Regularization(
    @Hyperparameter(doc = "L2 term: gradient += weight_decay * weight, after clipping by value")
    float weightDecay,

    @Hyperparameter(doc = "limit of each element of a gradient, on the server; 0: off")
    float clipValue) {

  /** No clipping and no decay. */
  public static final Regularization NONE = new Regularization(0, 0);

  /** Returns the largest absolute value of an element, infinity if there is no clipping. */
  float limit() {
    return clipValue > 0 ? clipValue : Float.POSITIVE_INFINITY;
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
