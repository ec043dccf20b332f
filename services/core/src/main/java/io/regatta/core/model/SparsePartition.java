package io.regatta.core.model;

import io.regatta.core.hash.Mix64;

/**
 * Owner of a sparse id: a mixed hash, stable across processes and releases, so that neighbouring ids spread. Stateless,
 * any thread.
 */
public final class SparsePartition {

  /** Own stream of the hash, so that ownership is independent of whatever else mixes the bare id. */
  private static final long OWNER = 0x6f776e6572L;

  private SparsePartition() {}

  /**
   * Shard in [0, shards) that owns the id. The upper 32 bits of the mixed id are scaled to the range by a
   * multiplication instead of a remainder (Lemire, "Fast random integer generation in an interval", 2019): shares
   * differ by less than shards / 2^32. Must never change: files and running clusters rely on it.
   */
  public static int shardOf(long id, int shards) {
    DensePartition.requireShards(shards);
    long hash = Mix64.mix(id ^ OWNER) >>> 32;
    return (int) (hash * shards >>> 32);
  }

  /** The shard that owns the id, of those that own rows. */
  public static int shardOf(long id, Sharding sharding) {
    return sharding.sparseShard(shardOf(id, sharding.sparseShards()));
  }
}
