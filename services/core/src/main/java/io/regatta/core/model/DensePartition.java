package io.regatta.core.model;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.ArrayList;
import java.util.List;

/**
 * Which part of which dense variable lies on which shard: each variable is cut into blocks by the rule of Paddle's
 * transpiler ({@code slice_variable}) and the blocks are dealt round robin, going on across variables. The blocks of
 * one shard, in dealing order, form that shard's contiguous vector: what is pushed, updated and pulled as one.
 * Immutable; a pure function of its inputs, so every process computes the same one.
 *
 * <p>The rule: at most {@code shards} blocks of equal size (the last one shorter), none below {@code minBlock}
 * elements unless the variable itself is; a variable of two or more dimensions is cut between rows only, where a row
 * is everything behind the first dimension.
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
      int shardOffset) {

    /** {@code name:blockN:size @ shard s [from..to)}: the place within the shard's vector, in elements. */
    public String describe() {
      return variable + ":block" + blockId + ":" + size + " @ shard " + shard
          + " [" + shardOffset + ".." + (shardOffset + size) + ")";
    }
  }

  /** Paddle's default: no block smaller than this many elements. */
  public static final int DEFAULT_MIN_BLOCK = 8192;

  private final int[] shardSizes;
  private final int numel;
  private final List<Block> blocks;
  private final List<List<Block>> blocksByShard;

  private DensePartition(int[] shardSizes, int numel, List<Block> blocks, List<List<Block>> blocksByShard) {
    this.shardSizes = shardSizes;
    this.numel = numel;
    this.blocks = List.copyOf(blocks);
    this.blocksByShard = blocksByShard.stream().map(List::copyOf).toList();
  }

  /**
   * Cuts and deals.
   *
   * @param variables in the order of the flat dense vector
   * @param shards number of shards, at least 1
   * @param minBlock smallest block, elements, at least 1
   */
  public static DensePartition of(List<DenseVariable> variables, int shards, int minBlock) {
    requireShards(shards);
    if (minBlock < 1) {
      throw new InvalidInput("min_block is " + minBlock + " elements: it must be at least 1");
    }
    List<Block> blocks = new ArrayList<>();
    List<List<Block>> byShard = new ArrayList<>();
    for (int s = 0; s < shards; s++) {
      byShard.add(new ArrayList<>());
    }
    int[] sizes = new int[shards];
    int flatOffset = 0;
    for (DenseVariable v : variables) {
      int numel = v.numel();
      int blockSize = blockSize(v, shards, minBlock);
      for (int from = 0, id = 0; from < numel; from += blockSize, id++) {
        int size = Math.min(blockSize, numel - from);
        int shard = blocks.size() % shards;
        Block block = new Block(v.name(), id, from, flatOffset + from, size, shard, sizes[shard]);
        blocks.add(block);
        byShard.get(shard).add(block);
        sizes[shard] += size;
        if (numel - from <= blockSize) {
          break; // from + blockSize could pass 2^31
        }
      }
      flatOffset = Math.addExact(flatOffset, numel);
    }
    return new DensePartition(sizes, flatOffset, blocks, byShard);
  }

  /** Elements per block of one variable (the last block may have fewer). */
  private static int blockSize(DenseVariable v, int shards, int minBlock) {
    int numel = v.numel();
    int split = Math.min(shards, Math.max(1, numel / minBlock));
    long size = ceilDiv(numel, split);
    if (v.shape().size() >= 2) {
      int row = numel / v.shape().get(0);
      size = ceilDiv(size, row) * row;
    }
    return (int) size; // ≤ numel, because numel is a whole number of rows
  }

  private static long ceilDiv(long a, long b) {
    return (a + b - 1) / b;
  }

  public int shards() {
    return shardSizes.length;
  }

  /** Elements of the flat dense vector. */
  public int numel() {
    return numel;
  }

  /** All blocks in dealing order. */
  public List<Block> blocks() {
    return blocks;
  }

  /** Blocks of one shard in the order of its vector. */
  public List<Block> blocksOf(int shard) {
    return blocksByShard.get(shard);
  }

  /** Length of a shard's vector; 0 is ordinary. */
  public int sizeOf(int shard) {
    return shardSizes[shard];
  }

  /** The shard's vector, gathered out of the flat dense vector into a new array. */
  public float[] slice(float[] flat, int shard) {
    requireLength("flat dense vector", flat.length, numel);
    float[] shardVector = new float[shardSizes[shard]];
    for (Block b : blocksByShard.get(shard)) {
      System.arraycopy(flat, b.flatOffset(), shardVector, b.shardOffset(), b.size());
    }
    return shardVector;
  }

  /** Writes a shard's vector back into its places of the flat dense vector. */
  public void merge(float[] shardVector, int shard, float[] flat) {
    requireLength("vector of shard " + shard, shardVector.length, shardSizes[shard]);
    requireLength("flat dense vector", flat.length, numel);
    for (Block b : blocksByShard.get(shard)) {
      System.arraycopy(shardVector, b.shardOffset(), flat, b.flatOffset(), b.size());
    }
  }

  /** One line per block, in dealing order: {@link Block#describe}. */
  public List<String> describe() {
    return blocks.stream().map(Block::describe).toList();
  }

  private static void requireLength(String what, int actual, int expected) {
    if (actual != expected) {
      throw new InvalidInput("the " + what + " has " + actual + " elements, the model's partition says " + expected
          + ": use the same variables, shards and min_block on both sides");
    }
  }

  static void requireShards(int shards) {
    if (shards < 1) {
      throw new InvalidInput("the number of shards is " + shards + ": it must be at least 1");
    }
  }
}
