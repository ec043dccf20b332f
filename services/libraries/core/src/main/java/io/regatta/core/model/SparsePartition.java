package io.regatta.core.model;

import io.regatta.core.hash.Mix64;

/**
 * The assignment of sparse ids to shards by a mixed hash, which spreads neighbouring ids. Stateless, any thread. It is
 * stable across processes and releases.
 */
public final class SparsePartition {

  /** Separate stream of the hash, so that ownership is independent of everything else that mixes the bare id. */
  private static final long OWNER = 0x6f776e6572L;

  private SparsePartition() {}

  /**
   * Returns the shard in [0, shards) that owns the id. The upper 32 bits of the mixed id are scaled to the range by a
   * multiplication instead of a remainder. This is Lemire's method ("Fast random integer generation in an interval",
   * 2019): shards' fractions of the ids differ by less than shards / 2^32. Must not change without a mark in the manifest
   * of snapshots: files and running clusters rely on it.
   */
  public static int shardOf(long id, int shards) {
    DensePartition.requireShards(shards);
    long hash = Mix64.mix(id ^ OWNER) >>> 32;
    return (int) (hash * shards >>> 32);
  }

  /** Returns the shard that owns the id, of those that own rows. */
  public static int shardOf(long id, Sharding sharding) {
    return sharding.sparseShard(shardOf(id, sharding.sparseShards()));
  }
}
