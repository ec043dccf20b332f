package io.regatta.core.model;

import java.util.List;

/**
 * Which part of which dense variable lies on which shard: each variable is cut into blocks by the rule of Paddle's
 * transpiler ({@code slice_variable}) and the blocks are dealt round robin, going on across variables. The blocks of
 * one shard, in dealing order, form that shard's contiguous vector: what is pushed, updated and pulled as one.
 * Immutable; a pure function of its inputs, so every process computes the same one.
 */
public final class DensePartition {

  /**
   * @param variable name
   * @param blockId number of the block within its variable
   * @param variableOffset first element within the variable
   * @param flatOffset first element within the flat dense vector
   * @param size elements
   * @param shard owner
   * @param shardOffset first element within the shard's vector
   */
  public record Block(String variable, int blockId, int variableOffset, int flatOffset, int size, int shard,
      int shardOffset) {}

  /** Paddle's default: no block smaller than this many elements. */
  public static final int DEFAULT_MIN_BLOCK = 8192;

  public static DensePartition of(List<DenseVariable> variables, int shards, int minBlock) {
    throw new UnsupportedOperationException("TODO core helper");
  }

  public int shards() {
    throw new UnsupportedOperationException("TODO core helper");
  }

  /** All blocks in dealing order. */
  public List<Block> blocks() {
    throw new UnsupportedOperationException("TODO core helper");
  }

  /** Blocks of one shard in the order of its vector. */
  public List<Block> blocksOf(int shard) {
    throw new UnsupportedOperationException("TODO core helper");
  }

  /** Length of a shard's vector; 0 is ordinary. */
  public int sizeOf(int shard) {
    throw new UnsupportedOperationException("TODO core helper");
  }

  /** The shard's vector, gathered out of the flat dense vector into a new array. */
  public float[] slice(float[] flat, int shard) {
    throw new UnsupportedOperationException("TODO core helper");
  }

  /** Writes a shard's vector back into its places of the flat dense vector. */
  public void merge(float[] shardVector, int shard, float[] flat) {
    throw new UnsupportedOperationException("TODO core helper");
  }
}
