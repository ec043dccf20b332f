package io.regatta.predictor;

import io.regatta.core.init.InitializerSpec;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import java.util.ArrayList;
import java.util.List;

/**
 * The rows of one sparse table in a model that predicts: 64-bit id → {@code dim} float32 values, without optimizer
 * state. Ids without a row have the initial values of training. Owned by the predictor's thread.
 */
final class ServedTable {

  private static final int SLAB_ROWS = 4096;

  private final String name;
  private final int dim;
  private final InitializerSpec initializer;
  private final long initializerKey;
  private final Long2IntOpenHashMap rowOf = new Long2IntOpenHashMap();
  private final List<float[]> slabs = new ArrayList<>();
  private final IntArrayList free = new IntArrayList();
  private int next;

  /** @param seed of the job's initializers */
  ServedTable(String name, int dim, InitializerSpec initializer, long seed) {
    this.name = name;
    this.dim = dim;
    this.initializer = initializer;
    initializerKey = InitializerSpec.tableKey(seed, name);
    rowOf.defaultReturnValue(-1);
  }

  String name() {
    return name;
  }

  int dim() {
    return dim;
  }

  /**
   * Returns a table like this without rows, for another thread to fill.
   *
   * @param ofJob seed of the job whose rows it will have
   */
  ServedTable empty(long ofJob) {
    return new ServedTable(name, dim, initializer, ofJob);
  }

  /**
   * Sets the values of {@code n} rows, new or existing.
   *
   * @param rows {@code width} floats each, of which the first {@code dim} are values
   * @return null
   */
  Void put(long[] ids, float[] rows, int width, int n) {
    for (int i = 0; i < n; i++) {
      put(ids[i], rows, i * width);
    }
    return null;
  }

  private void put(long id, float[] values, int off) {
    int row = rowOf.get(id);
    if (row < 0) {
      row = free.isEmpty() ? next++ : free.popInt();
      if (row == slabs.size() * SLAB_ROWS) {
        slabs.add(new float[Math.multiplyExact(SLAB_ROWS, dim)]);
      }
      rowOf.put(id, row);
    }
    System.arraycopy(values, off, slabs.get(row / SLAB_ROWS), row % SLAB_ROWS * dim, dim);
  }

  /**
   * Removes the rows of these ids.
   *
   * @return null
   */
  Void remove(long[] ids, int n) {
    for (int i = 0; i < n; i++) {
      int row = rowOf.remove(ids[i]);
      if (row >= 0) {
        free.add(row);
      }
    }
    return null;
  }

  /** Returns true if an id has a row, so that training has seen it. */
  boolean has(long id) {
    return rowOf.containsKey(id);
  }

  /** Returns values {@code [ids.length × dim]}. */
  float[] rows(long[] ids) {
    float[] out = new float[Math.multiplyExact(ids.length, dim)];
    for (int i = 0; i < ids.length; i++) {
      int row = rowOf.get(ids[i]);
      if (row < 0) {
        initializer.fill(initializerKey, ids[i], out, i * dim, dim);
      } else {
        System.arraycopy(slabs.get(row / SLAB_ROWS), row % SLAB_ROWS * dim, out, i * dim, dim);
      }
    }
    return out;
  }
}
