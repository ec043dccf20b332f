package io.regatta.core.optim;

/**
 * One update rule on plain float arrays. Stateless: all state is in the slots that the caller owns, so that it can be
 * saved, moved and compared. Works on dense vectors (slots in arrays of their own) and on rows of a slab (slots right
 * behind the weights) alike. Not thread-bound; the caller owns the arrays.
 */
public interface Optimizer {

  /** Number of float slots per weight (SGD 0, momentum and Adagrad 1, Adam 2). */
  int slots();

  /** The value that slot {@code k} starts with. */
  float initialSlot(int k);

  /**
   * Updates {@code w[wOff .. wOff+n)} with gradient {@code g[gOff .. gOff+n)}. Slot k of element i is
   * {@code s[sOff + k*slotStride + i]}. Clip by value, then weight decay, then the rule.
   *
   * @param lr learning rate of this update
   * @param updates number of updates of this table so far, this one included (≥ 1): Adam's bias correction
   */
  void apply(float[] w, int wOff, float[] s, int sOff, int slotStride, float[] g, int gOff, int n, float lr,
      long updates);

  /** The optimizer for a spec. */
  static Optimizer of(OptimizerSpec spec) {
    return switch (spec.kind()) {
      case SGD -> new Sgd(spec);
      case MOMENTUM -> new Momentum(spec);
      case ADAGRAD -> new Adagrad(spec);
      case ADAM -> new Adam(spec);
    };
  }
}
