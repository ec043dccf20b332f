package io.regatta.core.model;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.ArrayList;
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

  private final int shards;
  private final List<Block> blocks;
  private final List<List<Block>> byShard;
  private final int[] sizes;

  private DensePartition(int shards, List<Block> blocks, int[] sizes) {
    this.shards = shards;
    this.blocks = List.copyOf(blocks);
    this.sizes = sizes;
    List<List<Block>> lists = new ArrayList<>();
    for (int s = 0; s < shards; s++) {
      int shard = s;
      lists.add(this.blocks.stream().filter(b -> b.shard() == shard).toList());
    }
    byShard = List.copyOf(lists);
  }

  /**
   * Cuts and deals.
   *
   * @param variables in flat order
   * @param shards number of shards, at least 1
   * @param minBlock a variable is cut into no more blocks than it has times this many elements
   */
  public static DensePartition of(List<DenseVariable> variables, int shards, int minBlock) {
    if (shards < 1 || minBlock < 1) {
      throw new InvalidInput("cannot cut dense variables over " + shards + " shards with min_block " + minBlock
          + "; both must be at least 1");
    }
    List<Block> blocks = new ArrayList<>();
    int[] sizes = new int[shards];
    int flat = 0;
    int next = 0;
    for (DenseVariable v : variables) {
      int numel = v.numel();
      int block = blockSize(v, numel, shards, minBlock);
      for (int offset = 0, id = 0; offset < numel; offset += block, id++) {
        int size = Math.min(block, numel - offset);
        blocks.add(new Block(v.name(), id, offset, flat + offset, size, next, sizes[next]));
        sizes[next] += size;
        next = (next + 1) % shards;
      }
      flat += numel;
    }
    return new DensePartition(shards, blocks, sizes);
  }

  private static int blockSize(DenseVariable v, int numel, int shards, int minBlock) {
    int split = Math.min(shards, Math.max(1, numel / minBlock));
    int block = (numel + split - 1) / split;
    if (v.shape().size() >= 2 && v.shape().get(0) > 0) {
      int row = numel / v.shape().get(0);
      block = row == 0 ? block : (block + row - 1) / row * row;
    }
    return Math.max(1, block);
  }

  public int shards() {
    return shards;
  }

  /** All blocks in dealing order. */
  public List<Block> blocks() {
    return blocks;
  }

  /** Blocks of one shard in the order of its vector. */
  public List<Block> blocksOf(int shard) {
    return byShard.get(shard);
  }

  /** Length of a shard's vector; 0 is ordinary. */
  public int sizeOf(int shard) {
    return sizes[shard];
  }

  /** The shard's vector, gathered out of the flat dense vector into a new array. */
  public float[] slice(float[] flat, int shard) {
    float[] out = new float[sizes[shard]];
    for (Block b : byShard.get(shard)) {
      System.arraycopy(flat, b.flatOffset(), out, b.shardOffset(), b.size());
    }
    return out;
  }

  /** Writes a shard's vector back into its places of the flat dense vector. */
  public void merge(float[] shardVector, int shard, float[] flat) {
    for (Block b : byShard.get(shard)) {
      System.arraycopy(shardVector, b.shardOffset(), flat, b.flatOffset(), b.size());
    }
  }

  /** One line a block, {@code name:blockN:size @ shard s [from..to)}, for people who ask what lies where. */
  public String describe() {
    StringBuilder out = new StringBuilder();
    for (Block b : blocks) {
      out.append(b.variable()).append(":block").append(b.blockId()).append(':').append(b.size()).append(" @ shard ")
          .append(b.shard()).append(" [").append(b.shardOffset()).append("..").append(b.shardOffset() + b.size())
          .append(")\n");
    }
    return out.toString();
  }
}
