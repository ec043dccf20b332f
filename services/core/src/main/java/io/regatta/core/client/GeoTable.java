package io.regatta.core.client;

import io.regatta.core.exchange.SparseRows;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.Optimizer;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongLinkedOpenHashSet;
import java.util.Arrays;

/**
 * A rank's local copy of the rows that it has used of one table: the trained value and the one last agreed on with the
 * servers. Owned by its {@link GeoState}.
 */
final class GeoTable {

  private final SparseTableSpec spec;
  private final Optimizer optimizer;
  private final int dim;
  private final Long2IntOpenHashMap index = new Long2IntOpenHashMap();
  private final LongLinkedOpenHashSet touched = new LongLinkedOpenHashSet();
  private float[] local = new float[0];
  private float[] old = new float[0];

  GeoTable(SparseTableSpec spec) {
    this.spec = spec;
    optimizer = Optimizer.of(spec.optimizer());
    dim = spec.dim();
    index.defaultReturnValue(-1);
  }

  /** Copies the local rows of those ids that are here; returns the others. */
  long[] copy(long[] ids, float[] out) {
    LongArrayList missing = new LongArrayList();
    for (int i = 0; i < ids.length; i++) {
      int row = index.get(ids[i]);
      if (row < 0) {
        missing.add(ids[i]);
      } else {
        System.arraycopy(local, row * dim, out, i * dim, dim);
      }
    }
    return missing.toLongArray();
  }

  /** Takes in rows as the servers have them; those that are here already stay as they are. */
  void admit(long[] ids, float[] values) {
    for (int i = 0; i < ids.length; i++) {
      int row = index.size();
      if (index.putIfAbsent(ids[i], row) >= 0) {
        continue;
      }
      if ((row + 1) * dim > local.length) {
        int rows = Math.max(1024, row + (row >> 1) + 1);
        local = Arrays.copyOf(local, Math.multiplyExact(rows, dim));
        old = Arrays.copyOf(old, local.length);
      }
      System.arraycopy(values, i * dim, local, row * dim, dim);
      System.arraycopy(values, i * dim, old, row * dim, dim);
    }
  }

  /** Forgets all rows; they are pulled again when they are next used. */
  void clear() {
    index.clear();
    touched.clear();
  }

  /** One local step of SGD on rows that must be here; marks them for the next exchange. */
  void update(SparseRows gradients, long step) {
    float lr = (float) spec.optimizer().learningRate().at(step);
    for (int i = 0; i < gradients.ids().length; i++) {
      long id = gradients.ids()[i];
      int row = index.get(id);
      if (row < 0) {
        throw new IllegalStateException("row " + id + " of table " + spec.name() + " got a gradient before it was "
            + "pulled");
      }
      touched.add(id);
      optimizer.apply(local, row * dim, null, 0, 0, gradients.values(), i * dim, dim, lr, step + 1);
    }
  }

  /** One n-th of what training has changed since the last exchange; the agreed values move along with it. */
  SparseRows takeDelta(int trainers) {
    long[] ids = touched.toLongArray();
    touched.clear();
    float[] delta = new float[ids.length * dim];
    for (int i = 0; i < ids.length; i++) {
      int row = index.get(ids[i]) * dim;
      for (int k = 0; k < dim; k++) {
        delta[i * dim + k] = (local[row + k] - old[row + k]) / trainers;
        old[row + k] += delta[i * dim + k];
      }
    }
    return new SparseRows(spec.name(), ids, delta);
  }

  /** Takes over what others have changed: the local value moves by what the servers' is away from the agreed one. */
  void merge(long[] ids, float[] server) {
    for (int i = 0; i < ids.length; i++) {
      int at = index.get(ids[i]);
      if (at < 0) {
        continue;
      }
      for (int k = 0; k < dim; k++) {
        float now = server[i * dim + k];
        local[at * dim + k] += now - old[at * dim + k];
        old[at * dim + k] = now;
      }
    }
  }
}
