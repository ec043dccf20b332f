package io.regatta.core.client;

import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.Sgd;
import io.regatta.core.optim.UpdateStep;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongLinkedOpenHashSet;

/**
 * A rank's local copy of the rows of one table that it has used: the trained value, and the value last agreed with the
 * servers. Owned by its {@link GeoState}.
 */
final class GeoTable {

  private static final int ARRAY_MAX = Integer.MAX_VALUE - 8;

  private final SparseTableSpec spec;
  private final Sgd optimizer;
  private final int dim;
  private final Long2IntOpenHashMap index = new Long2IntOpenHashMap();
  private final LongLinkedOpenHashSet touched = new LongLinkedOpenHashSet();
  private final RowSlabs local;
  private final RowSlabs old;

  GeoTable(SparseTableSpec spec) {
    this.spec = spec;
    optimizer = (Sgd) spec.optimizer().optimizer();
    dim = spec.dim();
    local = new RowSlabs(dim);
    old = new RowSlabs(dim);
    index.defaultReturnValue(-1);
  }

  /** Copies the local rows of those ids that are here; returns the other ids. */
  long[] copy(long[] ids, float[] out) {
    LongArrayList missing = new LongArrayList();
    for (int i = 0; i < ids.length; i++) {
      int row = index.get(ids[i]);
      if (row < 0) {
        missing.add(ids[i]);
      } else {
        System.arraycopy(local.slab(row), local.offset(row), out, i * dim, dim);
      }
    }
    return missing.toLongArray();
  }

  /** Adds rows with the servers' values; rows that are here already stay as they are. */
  void admit(long[] ids, float[] values) {
    for (int i = 0; i < ids.length; i++) {
      int row = index.size();
      if (index.putIfAbsent(ids[i], row) >= 0) {
        continue;
      }
      local.put(row, values, i * dim);
      old.put(row, values, i * dim);
    }
  }

  /** Drops all rows; they are pulled again at their next use. */
  void clear() {
    index.clear();
    touched.clear();
  }

  /** Makes one local step of SGD on rows that must be here; marks them for the next exchange. */
  void update(SparseRows gradients, long step) {
    UpdateStep update = spec.optimizer().step((float) spec.optimizer().learningRate().at(step), step + 1);
    for (int i = 0; i < gradients.ids().length; i++) {
      long id = gradients.ids()[i];
      int row = index.get(id);
      if (row < 0) {
        throw new IllegalStateException("row " + id + " of table " + spec.name() + " got a gradient before it was "
            + "pulled");
      }
      touched.add(id);
      optimizer.apply(local.slab(row), local.offset(row), null, 0, 0, gradients.values(), i * dim, dim, update);
    }
  }

  /** Returns one n-th of what training has changed since the last exchange, and adds it to the agreed values. */
  SparseRows takeDelta(int trainers) {
    float[] delta = new float[deltaLength(touched.size())];
    long[] ids = touched.toLongArray();
    touched.clear();
    for (int i = 0; i < ids.length; i++) {
      int row = index.get(ids[i]);
      float[] to = local.slab(row);
      float[] from = old.slab(row);
      int at = local.offset(row);
      for (int k = 0; k < dim; k++) {
        delta[i * dim + k] = (to[at + k] - from[at + k]) / trainers;
        from[at + k] += delta[i * dim + k];
      }
    }
    return new SparseRows(spec.name(), ids, delta);
  }

  /**
   * Merges what others have changed: adds to the local value the difference between the servers' value and the agreed
   * one.
   */
  void merge(long[] ids, float[] server) {
    for (int i = 0; i < ids.length; i++) {
      int row = index.get(ids[i]);
      if (row < 0) {
        continue;
      }
      float[] mine = local.slab(row);
      float[] agreed = old.slab(row);
      int at = local.offset(row);
      for (int k = 0; k < dim; k++) {
        float now = server[i * dim + k];
        mine[at + k] += now - agreed[at + k];
        agreed[at + k] = now;
      }
    }
  }

  /** @throws Overloaded if an exchange would hold more values than an array does */
  int deltaLength(int rows) {
    if ((long) rows * dim > ARRAY_MAX) {
      throw new Overloaded("an exchange of " + rows + " rows of " + dim + " values of table '" + spec.name() + "' is more than the "
          + ARRAY_MAX + " values that one message holds; exchange more often (geo.k_steps), or use more trainers");
    }
    return rows * dim;
  }
}
