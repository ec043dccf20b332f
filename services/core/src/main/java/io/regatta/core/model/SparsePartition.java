package io.regatta.core.model;

/** Owner of a sparse id: a mixed hash, stable across processes and releases, so that neighbouring ids spread. */
public final class SparsePartition {

  private SparsePartition() {}

  /** Shard in [0, shards) that owns the id. */
  public static int shardOf(long id, int shards) {
    // The upper half times the count: an even split of the hash range without a division (Lemire, 2019).
    return (int) ((Mix.mix(id) >>> 32) * shards >>> 32);
  }
}
