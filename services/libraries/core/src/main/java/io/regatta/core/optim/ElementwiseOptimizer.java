package io.regatta.core.optim;

/**
 * An optimizer that updates each weight from its own gradient and slots alone. An element's update is a fixed sequence of
 * float operations, the same in any block and in both methods.
 *
 * <p>There are two methods because they differ by a factor of four to six in speed. HotSpot vectorizes a loop only if
 * all its arrays are read from the same index. With different offsets it would have to rule out overlap, and does not.
 */
public non-sealed interface ElementwiseOptimizer extends Optimizer {

  /**
   * Updates a whole block {@code w} with its gradient {@code g}.
   *
   * @param slots an array as long as {@code w} for each of {@link #slots()}: slot k of element i is {@code slots[k][i]}
   */
  void applyWhole(float[] w, float[][] slots, float[] g, UpdateStep step);

  /**
   * Updates a range, for instance a row of a slab with its slots right after the weights: {@code w[wOff .. wOff+n)} with
   * gradient {@code g[gOff .. gOff+n)}. Slot k of element i is {@code s[sOff + k*slotStride + i]}. The ranges must not
   * overlap.
   *
   * @param s slots; may be the same array as {@code w}, and anything, null included, if there are none
   */
  void apply(float[] w, int wOff, float[] s, int sOff, int slotStride, float[] g, int gOff, int n, UpdateStep step);
}
