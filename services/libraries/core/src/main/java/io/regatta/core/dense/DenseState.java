package io.regatta.core.dense;

/**
 * A dense vector with its optimizer's slots at one moment, block by block. The arrays do not change until their block
 * is released, so another thread may read them; everything else is for the vector's thread.
 */
public interface DenseState {

  /** Returns the number of elements. */
  int size();

  /**
   * Returns elements {@code [b · BLOCK .. )}, from index 0; the array may be longer than {@link DenseValues#length}.
   */
  float[] values(int b);

  /** Returns the optimizer's slots of these elements, by slot. */
  float[][] slots(int b);

  /** Releases the blocks before this one, which are not read any more. */
  void releaseUntil(int b);
}
