package io.regatta.core.table;

import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import java.util.Arrays;

/**
 * One segment of a {@link SparseTable}: a map from id to row number, and the rows in slabs of a fixed size, so that
 * growth copies one segment's map and never a row. A row is {@code width} floats: values, then slot after slot.
 * Owned by the table's thread.
 */
final class SparseSegment {

  private static final int NONE = -1;
  /** Floats that a slab aims at: small enough that 256 nearly empty segments cost little. */
  private static final int SLAB_FLOATS = 2048;

  private final int width;
  private final int slabShift;
  private final int slabMask;
  private final Long2IntOpenHashMap rowOf;
  private float[][] slabs = new float[1][];

  SparseSegment(int width, float loadFactor) {
    this.width = width;
    int rows = Integer.highestOneBit(Math.max(1, SLAB_FLOATS / width));
    slabShift = Integer.numberOfTrailingZeros(rows);
    slabMask = rows - 1;
    rowOf = new Long2IntOpenHashMap(4, loadFactor);
    rowOf.defaultReturnValue(NONE);
  }

  int size() {
    return rowOf.size();
  }

  /** Row number of the id, or -1. */
  int find(long id) {
    return rowOf.get(id);
  }

  /** Adds a zeroed row for an id that has none; returns its number. Without memory for it, nothing is added. */
  int add(long id) {
    int row = rowOf.size();
    int slab = row >> slabShift;
    if (slab == slabs.length) {
      slabs = Arrays.copyOf(slabs, slab + Math.max(1, slab >> 1));
    }
    if (slabs[slab] == null) {
      slabs[slab] = new float[width << slabShift];
    }
    try {
      rowOf.put(id, row);
    } catch (OutOfMemoryError e) { // the map inserts first and grows then
      rowOf.remove(id);
      throw e;
    }
    return row;
  }

  /** The array that holds the row. */
  float[] slab(int row) {
    return slabs[row >> slabShift];
  }

  /** Where in {@link #slab} the row starts. */
  int offset(int row) {
    return (row & slabMask) * width;
  }

  /** A copy of the ids. */
  long[] ids() {
    return rowOf.keySet().toLongArray();
  }
}
