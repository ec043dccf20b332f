package io.regatta.core.dense;

import java.util.ArrayDeque;

/**
 * Arrays of {@value DenseValues#BLOCK} floats that are used again: for gradients that are being received, and for blocks of
 * a vector that a reader still needs. Holds as many as were in use at the same time, up to a limit that its owner sets by
 * the jobs it has. Owned by the thread of the shard, aggregator or stream that it belongs to.
 */
public final class BlockPool {

  private final ArrayDeque<float[]> free = new ArrayDeque<>();
  private long most;
  private float[] scratch;

  /** An array of {@value DenseValues#BLOCK} elements with any content. */
  public float[] take() {
    float[] block = free.pollLast();
    return block == null ? new float[DenseValues.BLOCK] : block;
  }

  /** Gives an array back; one of another length, or beyond the limit, is left to the garbage collector. */
  public void give(float[] block) {
    if (block.length == DenseValues.BLOCK && free.size() < most) {
      free.addLast(block);
    }
  }

  /** The array that everybody on this thread may write to, and whose content nobody relies on later. */
  public float[] scratch() {
    if (scratch == null) {
      scratch = new float[DenseValues.BLOCK];
    }
    return scratch;
  }

  /** Arrays that wait for their next use. */
  public int size() {
    return free.size();
  }

  /** Limits how many wait, from now on; 0 in a new pool. Those beyond it are left to the garbage collector. */
  public void limit(long blocks) {
    most = blocks;
    while (free.size() > most) {
      free.pollLast();
    }
  }

  /**
   * The blocks that are taken again and again for a vector that {@code trainers} push in rounds: a gradient of each, and
   * one vector that readers still need.
   */
  public static long inUse(int trainers, int size) {
    return (trainers + 1L) * DenseValues.blocks(size);
  }
}
