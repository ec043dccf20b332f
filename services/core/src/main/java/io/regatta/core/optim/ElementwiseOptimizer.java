package io.regatta.core.optim;

/**
 * An optimizer whose update of an element depends on this element alone. It is a fixed sequence of float operations,
 * the same in any block and in both methods, so a vector may be updated in blocks and in any order. Before the rule,
 * both clip the gradient by value, then add the weight decay.
 *
 * <p>There are two methods because they differ by a factor of four to six in speed. HotSpot vectorizes a loop only if
 * all its arrays are read from the same index. With different offsets it would have to rule out overlap, and does not.
 */
public non-sealed interface ElementwiseOptimizer extends Optimizer {

  /**
   * Updates a block {@code w} of a dense vector with its gradient {@code g}.
   *
   * @param slots {@link #slots()} arrays as long as {@code w}: slot k of element i is {@code slots[k][i]}
   * @param lr learning rate of this update
   * @param updates number of updates of this vector so far, this one included (≥ 1): Adam's bias correction
   */
  void applyBlock(float[] w, float[][] slots, float[] g, float lr, long updates);

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
}
