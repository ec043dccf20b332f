package io.regatta.core.client;

import java.util.ArrayList;
import java.util.List;

/**
 * A store of rows of {@code dim} floats by number, in slabs of a fixed size. Not thread-safe; one owner. No single
 * array holds all rows, so memory alone limits their number, and growth copies nothing.
 */
final class RowSlabs {

  private static final int SLAB_FLOATS = 1 << 16;

  private final int dim;
  /** Number of rows in a slab, a power of two. */
  private final int rows;
  private final List<float[]> slabs = new ArrayList<>();

  RowSlabs(int dim) {
    this.dim = dim;
    rows = Integer.highestOneBit(Math.max(1, SLAB_FLOATS / dim));
  }

  /** Returns the array that holds a row. */
  float[] slab(int row) {
    return slabs.get(row / rows);
  }

  /** Returns the place of a row's values in its {@link #slab}. */
  int offset(int row) {
    return row % rows * dim;
  }

  /** Copies {@code values[from .. from + dim)} to an existing row, or to the first row after the last slab. */
  void put(int row, float[] values, int from) {
    if (row / rows == slabs.size()) {
      slabs.add(new float[rows * dim]);
    }
    System.arraycopy(values, from, slab(row), offset(row), dim);
  }
}
