package io.regatta.trainer.djl;

import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;

/**
 * Values of some rows of one table as they were pulled. Immutable by convention, so that replicas can share them.
 *
 * @param index id → row number in {@code values}, -1 where the id is not among them
 * @param values rows × dim, row-major
 */
record Rows(Long2IntOpenHashMap index, float[] values, int dim) {

  /** Copies the row of an id to {@code out[off ..)}; false if it is not here. */
  boolean copy(long id, float[] out, int off) {
    int row = index.get(id);
    if (row < 0) {
      return false;
    }
    System.arraycopy(values, row * dim, out, off, dim);
    return true;
  }
}
