package io.regatta.core.client;

import io.regatta.core.model.Sharding;
import io.regatta.core.model.SparsePartition;
import java.util.List;

/**
 * The distinct ids of one sparse table, cut by owning shard: {@code ids[shard]}, and the position of each in the uncut
 * list. For a single shard nothing is cut or copied: its part is the caller's own array. Made on the caller's thread,
 * then immutable.
 */
final class SparseSlices {

  final String table;
  final long[] all;
  final long[][] ids;
  private final int[][] positions;

  SparseSlices(String table, long[] all, Sharding sharding) {
    this.table = table;
    this.all = all;
    int shards = sharding.shards();
    ids = new long[shards][];
    positions = new int[shards][];
    if (shards == 1) {
      ids[0] = all;
      return;
    }
    int[] owner = new int[all.length];
    int[] sizes = new int[shards];
    for (int i = 0; i < all.length; i++) {
      owner[i] = SparsePartition.shardOf(all[i], sharding);
      sizes[owner[i]]++;
    }
    for (int s = 0; s < shards; s++) {
      ids[s] = new long[sizes[s]];
      positions[s] = new int[sizes[s]];
    }
    int[] next = new int[shards];
    for (int i = 0; i < all.length; i++) {
      int s = owner[i];
      ids[s][next[s]] = all[i];
      positions[s][next[s]++] = i;
    }
  }

  /** Returns one shard's part of values that lie row by row in the order of the uncut list. */
  float[] gather(float[] values, int shard, int dim) {
    if (ids.length == 1) {
      return values;
    }
    int[] at = positions[shard];
    float[] out = new float[Math.multiplyExact(at.length, dim)];
    for (int i = 0; i < at.length; i++) {
      System.arraycopy(values, at[i] * dim, out, i * dim, dim);
    }
    return out;
  }

  /**
   * Returns all rows in the order of the uncut list, from each shard's part. The result may be the only part itself.
   *
   * @param parts by shard, checked: as long as its ids times {@code dim}
   */
  float[] scatter(List<float[]> parts, int dim) {
    if (ids.length == 1) {
      return parts.get(0);
    }
    float[] values = new float[Math.multiplyExact(all.length, dim)];
    for (int s = 0; s < ids.length; s++) {
      float[] part = parts.get(s);
      int[] at = positions[s];
      for (int i = 0; i < at.length; i++) {
        System.arraycopy(part, i * dim, values, at[i] * dim, dim);
      }
    }
    return values;
  }
}
