package io.regatta.core.dense;

import java.util.ArrayDeque;

/**
 * A pool of arrays of {@value DenseValues#BLOCK} floats that are reused. Owned by the thread of its shard, aggregator
 * or stream. They hold gradients that are being received, and blocks of a vector that a reader still needs. It keeps as
 * many as were in use at the same time, up to a limit that its owner sets by the jobs it has.
 */
public final class BlockPool {

  private final ArrayDeque<float[]> free = new ArrayDeque<>();
  private long most;
  private float[] scratch;

  /** Returns an array of {@value DenseValues#BLOCK} elements with any content. */
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

  /** Returns the scratch array of this thread, whose content is only valid until its next use. */
  public float[] scratch() {
    if (scratch == null) {
      scratch = new float[DenseValues.BLOCK];
    }
    return scratch;
  }

  /** Returns the number of arrays that wait for their next use. */
  public int size() {
    return free.size();
  }

  /** Limits how many arrays wait, from now on; 0 in a new pool. Those beyond it are left to the garbage collector. */
  public void limit(long blocks) {
    most = blocks;
    while (free.size() > most) {
      free.pollLast();
    }
  }

  /**
   * Returns the number of blocks that are taken repeatedly for a vector that {@code trainers} push in rounds: a
   * gradient of each, and one vector that readers still need.
   */
  public static long inUse(int trainers, int size) {
    return (trainers + 1L) * DenseValues.blocks(size);
  }
}
