package io.regatta.training.exchange.push;

import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import java.util.stream.LongStream;

/**
 * The pulled values of some rows of one table. Immutable, so that replicas can share it; the index of ids is built by
 * the thread that first needs it.
 */
public final class Rows {

  private final long[] ids;
  private final float[] values;
  private final int dim;
  private volatile Long2IntOpenHashMap index;

  /**
   * @param ids distinct
   * @param values rows × dim, row-major, in the order of {@code ids}; neither changes from now on
   */
  Rows(long[] ids, float[] values, int dim) {
    this.ids = ids;
    this.values = values;
    this.dim = dim;
  }

  /** Returns the values themselves, read only, if exactly these ids were pulled, as the same array; null otherwise. */
  float[] of(long[] asked) {
    return asked == ids ? values : null;
  }

  /** Copies the row of an id to {@code out[off ..)}; returns false if it is not here. */
  boolean copy(long id, float[] out, int off) {
    int row = index().get(id);
    if (row < 0) {
      return false;
    }
    System.arraycopy(values, row * dim, out, off, dim);
    return true;
  }

  /** Returns those of these ids that are not here. */
  long[] without(long[] asked) {
    Long2IntOpenHashMap known = index();
    return LongStream.of(asked).filter(id -> !known.containsKey(id)).toArray();
  }

  private Long2IntOpenHashMap index() {
    Long2IntOpenHashMap known = index;
    if (known == null) {
      known = new Long2IntOpenHashMap(ids.length);
      known.defaultReturnValue(-1);
      for (int i = 0; i < ids.length; i++) {
        known.put(ids[i], i);
      }
      index = known;
    }
    return known;
  }

  /** Returns these rows and others of the same table. */
  Rows and(Rows more) {
    long[] allIds = new long[ids.length + more.ids.length];
    System.arraycopy(ids, 0, allIds, 0, ids.length);
    System.arraycopy(more.ids, 0, allIds, ids.length, more.ids.length);
    float[] all = new float[values.length + more.values.length];
    System.arraycopy(values, 0, all, 0, values.length);
    System.arraycopy(more.values, 0, all, values.length, more.values.length);
    return new Rows(allIds, all, dim);
  }
}
