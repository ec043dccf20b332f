package io.regatta.core.dense;

/**
 * A dense vector and what its optimizer keeps, as they are at one moment, block by block. The arrays stay as they are until
 * their block is released, so another thread may read them; everything else is for the vector's thread.
 */
public interface DenseState {

  /** Number of elements. */
  int size();

  /** Elements {@code [b · BLOCK .. )}, from index 0; the array may be longer than {@link DenseValues#length}. */
  float[] values(int b);

  /** By slot: what the optimizer keeps for these elements. */
  float[][] slots(int b);

  /** Nobody needs the blocks before this one any more. */
  void releaseUntil(int b);
}
