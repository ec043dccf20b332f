package io.regatta.training.exchange.push;

import io.regatta.core.dense.DenseMemory;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.SparseRows;
import io.regatta.training.replica.Gradients;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The gradients of a replica's steps since its last push: Σ g over these steps, in their order, in float32, and Σ of
 * their examples. Rows are summed by id, in the order in which the ids first occur; counts are summed like gradients.
 * The gradients of a single step are passed on as they are, without a copy. Belongs to the replica's model thread.
 */
final class AccruedGradients {

  /**
   * The content of one push.
   *
   * @param versions by shard: the oldest values on which any of the gradients was computed
   */
  record Due(Gradients gradients, long[] versions) {}

  /** The sum of the rows of one table. */
  private static final class Table {

    private final Long2IntOpenHashMap index = new Long2IntOpenHashMap();
    private final int dim;
    private final int counts;
    private long[] ids;
    private float[] values;

    Table(SparseRows first) {
      dim = first.dim();
      counts = first.counts();
      ids = new long[first.ids().length];
      values = new float[first.values().length];
      index.defaultReturnValue(-1);
    }

    void add(SparseRows rows) {
      if (rows.dim() != dim || rows.counts() != counts) {
        throw new InvalidInput("rows of different dimensions of table '" + rows.table() + "' in one push");
      }
      for (int i = 0; i < rows.ids().length; i++) {
        long id = rows.ids()[i];
        int row = index.get(id);
        if (row < 0) { // not 0 + part: that would turn -0 into 0
          row = born(id); // which may grow the arrays
          System.arraycopy(rows.values(), i * dim, values, row * dim, dim);
          continue;
        }
        for (int k = 0; k < dim; k++) {
          values[row * dim + k] += rows.values()[i * dim + k];
        }
      }
    }

    private int born(long id) {
      int row = index.size();
      if (row == ids.length) {
        int room = Math.max(16, Math.multiplyExact(row, 2));
        ids = Arrays.copyOf(ids, room);
        values = Arrays.copyOf(values, Math.multiplyExact(room, dim));
      }
      index.put(id, row);
      ids[row] = id;
      return row;
    }

    SparseRows sum(String table) {
      return new SparseRows(table, Arrays.copyOf(ids, index.size()), Arrays.copyOf(values, index.size() * dim), counts);
    }
  }

  private final int stepsPerPush;
  private int steps;
  private double examples;
  private long[] versions;
  /** The gradients of the only step so far, if they are due after it; null otherwise. */
  private Gradients only;
  /** Memory of the dense sum, which is reused; null before the first one. */
  private float[] dense;
  private boolean hasDense;
  private final Map<String, Table> tables = new LinkedHashMap<>();

  AccruedGradients(int stepsPerPush) {
    this.stepsPerPush = stepsPerPush;
  }

  /**
   * Adds the gradients of a step. They are read here, and may change once the content has been pushed; with more than
   * one step for a push, at once.
   *
   * @param computedOn versions by shard of the values on which they were computed
   */
  void add(Gradients g, long[] computedOn) {
    versions = versions == null ? computedOn : oldest(versions, computedOn);
    steps++;
    if (stepsPerPush == 1) {
      only = g;
      return;
    }
    examples += g.examples();
    if (g.dense() != null) {
      addDense(g.dense());
    }
    for (SparseRows rows : g.sparse()) {
      if (rows.ids().length > 0) {
        tables.computeIfAbsent(rows.table(), t -> new Table(rows)).add(rows);
      }
    }
  }

  private void addDense(DenseMemory g) {
    if (dense == null) {
      dense = new float[g.size()];
    }
    for (int b = 0; b < g.blocks(); b++) {
      float[] block = g.block(b);
      int at = b * DenseMemory.BLOCK;
      int n = g.length(b);
      if (!hasDense) {
        System.arraycopy(block, 0, dense, at, n);
        continue;
      }
      for (int i = 0; i < n; i++) {
        dense[at + i] += block[i];
      }
    }
    hasDense = true;
  }

  /** Returns the older of two versions, by shard. */
  private static long[] oldest(long[] a, long[] b) {
    long[] oldest = a.clone();
    for (int s = 0; s < oldest.length; s++) {
      oldest[s] = Math.min(oldest[s], b[s]);
    }
    return oldest;
  }

  /** Returns true if there is a step that has not been pushed. */
  boolean isPending() {
    return steps > 0;
  }

  /** Returns true if the step that was added last completes a push. */
  boolean isDue() {
    return steps >= stepsPerPush;
  }

  /** Returns the content of the push, and begins the next one; its dense memory is valid until {@link #add}. */
  Due take() {
    Gradients sum = only;
    if (sum == null) {
      List<SparseRows> rows = new ArrayList<>(tables.size());
      tables.forEach((name, table) -> rows.add(table.sum(name)));
      sum = new Gradients(examples, hasDense ? DenseMemory.of(dense) : null, rows);
    }
    Due due = new Due(sum, versions);
    steps = 0;
    examples = 0;
    versions = null;
    only = null;
    hasDense = false;
    tables.clear();
    return due;
  }
}
