package io.regatta.core.optim;

/**
 * One update rule on plain float arrays. Not thread-bound; the caller owns the arrays. It is stateless: all state is in
 * the slots that the caller owns, so that it can be saved, moved and compared. Nothing is allocated, and the result
 * depends on the arguments only. An element's update is a fixed sequence of float operations, the same in any block and
 * in both methods.
 *
 * <p>There are two methods because they differ by a factor of four to six in speed. HotSpot vectorizes a loop only if
 * all its arrays are read from the same index. With different offsets it would have to rule out overlap, and does not.
 * Before the rule, both clip the gradient by value, then add the weight decay.
 */
public interface Optimizer {

  /** Returns the number of float slots per weight (SGD 0, momentum and Adagrad 1, Adam and FTRL 2). */
  int slots();

  /** Returns the value that slot {@code k} starts with. */
  float initialSlot(int k);

  /**
   * Updates a whole dense vector {@code w} with its gradient {@code g}.
   *
   * @param slots {@link #slots()} arrays as long as {@code w}: slot k of element i is {@code slots[k][i]}
   * @param lr learning rate of this update
   * @param updates number of updates of this vector so far, this one included (≥ 1): Adam's bias correction
   */
  void applyWhole(float[] w, float[][] slots, float[] g, float lr, long updates);

  /**
   * Updates a range, for instance a row of a slab with its slots right behind the weights: {@code w[wOff .. wOff+n)}
   * with gradient {@code g[gOff .. gOff+n)}. Slot k of element i is {@code s[sOff + k*slotStride + i]}. The ranges must
   * not overlap.
   *
   * @param s slots; may be the same array as {@code w}, and anything, null included, if there are none
   * @param lr learning rate of this update
   * @param updates number of updates of this table so far, this one included (≥ 1): Adam's bias correction
   */
  void apply(float[] w, int wOff, float[] s, int sOff, int slotStride, float[] g, int gOff, int n, float lr,
      long updates);

  /** Returns the optimizer for a spec. The caller must apply its learning rate and {@code clipNorm}. */
  static Optimizer of(OptimizerSpec spec) {
    return switch (spec.kind()) {
      case SGD -> new SgdRule(Regularization.of(spec));
      case MOMENTUM -> new MomentumRule(Regularization.of(spec), spec.momentum(), spec.nesterov());
      case ADAGRAD -> new AdagradRule(Regularization.of(spec), spec.epsilon(), spec.initialAccumulator());
      case ADAM -> new AdamRule(Regularization.of(spec), spec.beta1(), spec.beta2(), spec.epsilon());
      case FTRL -> new FtrlRule(Regularization.of(spec), spec.beta(), spec.l1(), spec.l2(), spec.initialAccumulator());
    };
  }
}
