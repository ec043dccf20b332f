package io.regatta.core.dense;

/**
 * One change of all of a shard's dense vector, made block by block. An optimizer that needs norms over whole tensors
 * visits every block twice; everything else visits it once. All blocks are visited in order, then all again. Two updates
 * with two visits must not be under way at a time. Owned by the thread of its shard.
 */
public interface DenseUpdate {

  /** Returns how often each block must be visited. */
  default int visits() {
    return 1;
  }

  /**
   * Makes one visit of a block.
   *
   * @param visit 0, or 1 for the second visit of each block
   * @param b index of the block
   * @param gradient of the block, or its difference, from index 0; the same in both visits
   */
  void apply(int visit, int b, float[] gradient);
}
