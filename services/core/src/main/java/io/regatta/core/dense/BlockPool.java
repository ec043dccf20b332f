package io.regatta.core.dense;

import java.util.ArrayDeque;

/**
 * Arrays of {@value DenseValues#BLOCK} floats that are used again: for gradients that are being received, and for blocks of
 * a vector that a reader still needs. Holds as many as were in use at the same time since {@link #clear}. Owned by the
 * thread of the shard or aggregator that it belongs to.
 */
public final class BlockPool {

  private final ArrayDeque<float[]> free = new ArrayDeque<>();
  private final float[] scratch = new float[DenseValues.BLOCK];

  /** An array of {@value DenseValues#BLOCK} elements with any content. */
  public float[] take() {
    float[] block = free.pollLast();
    return block == null ? new float[DenseValues.BLOCK] : block;
  }

  /** Gives an array back; one of another length is left to the garbage collector. */
  public void give(float[] block) {
    if (block.length == DenseValues.BLOCK) {
      free.addLast(block);
    }
  }

  /** The array that everybody on this thread may write to, and whose content nobody relies on later. */
  public float[] scratch() {
    return scratch;
  }

  /** Arrays that wait for their next use. */
  public int size() {
    return free.size();
  }

  /** Leaves them to the garbage collector. */
  public void clear() {
    free.clear();
  }
}
