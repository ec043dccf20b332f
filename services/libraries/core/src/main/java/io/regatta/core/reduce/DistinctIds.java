package io.regatta.core.reduce;

import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import java.nio.FloatBuffer;
import java.util.Arrays;

/**
 * The distinct ids of a batch, in order of first appearance, and the index of each position's id. Immutable by
 * convention; any thread. The order is a function of the batch alone, so sums over repeated ids are the same in every
 * run. Positions without an id ({@link #PADDING}) have no index.
 *
 * @param ids distinct ids, without {@link #PADDING}
 * @param position for each position of the batch, the index into {@code ids}; -1 where it holds {@link #PADDING}
 * @param index id → index into {@code ids}, -1 where there is none
 */
public record DistinctIds(long[] ids, int[] position, Long2IntOpenHashMap index) {

  /**
   * Stands where there is no id: it has no row and takes no gradient. As an unsigned number, the largest of 64 bits.
   */
  public static final long PADDING = -1;

  /** Returns the distinct ids of a batch, which has one id for each of its positions. */
  public static DistinctIds of(long[] batch) {
    return of(batch, batch.length);
  }

  /** Returns the distinct ids of a batch that is the first {@code positions} of an array. */
  public static DistinctIds of(long[] batch, int positions) {
    Long2IntOpenHashMap index = new Long2IntOpenHashMap(positions);
    index.defaultReturnValue(-1);
    int[] position = new int[positions];
    long[] ids = new long[positions];
    for (int i = 0; i < positions; i++) {
      if (batch[i] == PADDING) {
        position[i] = -1;
        continue;
      }
      int next = index.size();
      int known = index.putIfAbsent(batch[i], next);
      if (known < 0) {
        ids[next] = batch[i];
        known = next;
      }
      position[i] = known;
    }
    return new DistinctIds(Arrays.copyOf(ids, index.size()), position, index);
  }

  /** Returns the number of distinct ids. */
  public int size() {
    return ids.length;
  }

  /**
   * Returns the sums of a batch's rows by id, in the order of positions. The rows are {@code [positions × dim]} from
   * the buffer's start, heap or direct; the sums are {@code [size × dim]}.
   */
  public float[] sum(FloatBuffer batchRows, int dim) {
    float[] sums = new float[size() * dim];
    for (int p = 0; p < position.length; p++) {
      if (position[p] < 0) {
        continue;
      }
      int to = position[p] * dim;
      int from = p * dim;
      for (int k = 0; k < dim; k++) {
        sums[to + k] += batchRows.get(from + k);
      }
    }
    return sums;
  }
}
