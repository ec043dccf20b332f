package io.regatta.core.optim;

/**
 * The norms over one whole tensor that one update of a {@link TensorwiseOptimizer} needs. The squares are added up in
 * double, in the order of the tensor's elements, so the sums do not depend on where blocks begin. Not thread-safe.
 */
public final class TensorNorms {

  private final int dimensions;
  /** Sum of the squares of the weights before the update. */
  double weights;
  /** Sum of the squares of what the optimizer compares them with: the gradient, or the direction of the update. */
  double updates;

  /**
   * Creates the norms of a tensor of which nothing has been measured.
   *
   * @param dimensions length of the tensor's shape, 0 for a scalar
   */
  public TensorNorms(int dimensions) {
    this.dimensions = dimensions;
  }

  /** Returns true for a scalar or a vector: a bias, or a scale or shift of a normalization. */
  boolean isVector() {
    return dimensions < 2;
  }

  /**
   * Returns the factor of the learning rate that makes the update's norm a multiple of the weights' norm. It is 1 if one
   * of the norms is 0.
   *
   * @param coefficient norm of the update that is wished, relative to the weights' norm
   * @param decay weight of the weights' norm in the denominator
   * @param epsilon added to the denominator
   * @param most upper limit of the result, 0 for none
   */
  float trustRatio(float coefficient, float decay, float epsilon, float most) {
    if (!(weights > 0 && updates > 0)) {
      return 1;
    }
    double norm = Math.sqrt(weights);
    double ratio = coefficient * norm / (Math.sqrt(updates) + decay * norm + epsilon);
    return (float) (most > 0 ? Math.min(most, ratio) : ratio);
  }
}
