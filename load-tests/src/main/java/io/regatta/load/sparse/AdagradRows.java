package io.regatta.load.sparse;

import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The peer's table, in the obvious form: fastutil's map from id to row number, and rows of values followed by Adagrad's
 * sums in slabs. Owned by one thread.
 */
final class AdagradRows {
  static final float RATE = 0.01f;
  private static final float EPSILON = 1e-6f;
  private static final float RANGE = 0.1f;
  private static final int SLAB_ROWS = 1 << 16;

  private final int dim;
  private final Long2IntOpenHashMap rowOf = new Long2IntOpenHashMap();
  private final List<float[]> slabs = new ArrayList<>();

  AdagradRows(int dim) {
    this.dim = dim;
    rowOf.defaultReturnValue(-1);
  }

  /** Copies the row of an id to a place; a new row is created first. */
  void pull(long id, float[] to, int at) {
    int row = row(id);
    System.arraycopy(slabs.get(row / SLAB_ROWS), offset(row), to, at, dim);
  }

  /** Applies the gradient at a place to the row of an id. */
  void push(long id, float[] gradient, int at) {
    int row = row(id);
    float[] slab = slabs.get(row / SLAB_ROWS);
    int w = offset(row);
    for (int i = 0; i < dim; i++) {
      float g = gradient[at + i];
      float h = slab[w + dim + i] + g * g;
      slab[w + dim + i] = h;
      slab[w + i] -= RATE * g / ((float) Math.sqrt(h) + EPSILON);
    }
  }

  private int offset(int row) {
    return row % SLAB_ROWS * 2 * dim;
  }

  private int row(long id) {
    int row = rowOf.get(id);
    return row >= 0 ? row : born(id);
  }

  private int born(long id) {
    int row = rowOf.size();
    rowOf.put(id, row);
    if (row % SLAB_ROWS == 0) {
      slabs.add(new float[SLAB_ROWS * 2 * dim]);
    }
    SplittableRandom random = new SplittableRandom(id);
    float[] slab = slabs.get(row / SLAB_ROWS);
    for (int i = 0; i < dim; i++) {
      slab[offset(row) + i] = ((float) random.nextDouble() * 2 - 1) * RANGE;
    }
    return row;
  }
}
