package io.regatta.core.reduce;

import io.regatta.core.exchange.SparseRows;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The row gradients of one step: blocks that share a table are summed by id in the order in which they were added.
 * Owned by one thread, that of the model whose step it is.
 */
public final class SparseGradients {

  private static final class Table {
    final Long2IntOpenHashMap index = new Long2IntOpenHashMap();
    final int dim;
    final int counts;
    long[] ids;
    float[] sums;

    Table(int dim, int counts, DistinctIds first, float[] rows) {
      this.dim = dim;
      this.counts = counts;
      ids = first.ids();
      sums = rows;
      index.defaultReturnValue(-1);
    }

    void add(DistinctIds more, float[] rows) {
      if (index.isEmpty()) {
        for (int i = 0; i < ids.length; i++) {
          index.put(ids[i], i);
        }
      }
      int known = ids.length;
      ids = Arrays.copyOf(ids, known + more.size());
      sums = Arrays.copyOf(sums, ids.length * dim);
      for (int i = 0; i < more.size(); i++) {
        int at = index.putIfAbsent(more.ids()[i], known);
        if (at < 0) {
          at = known++;
          ids[at] = more.ids()[i];
        }
        for (int k = 0; k < dim; k++) {
          sums[at * dim + k] += rows[i * dim + k];
        }
      }
      ids = Arrays.copyOf(ids, known);
      sums = Arrays.copyOf(sums, known * dim);
    }
  }

  private final Map<String, Table> tables = new LinkedHashMap<>();

  /** Adds one block's gradients; {@code rows} is {@code [ids.size() × dim]} and belongs to this object afterwards. */
  public void add(String table, int dim, DistinctIds ids, float[] rows) {
    add(table, dim, 0, ids, rows);
  }

  /**
   * Adds one block's gradients whose rows end with {@code counts} floats that are counts ({@link SparseRows#counts}).
   */
  public void add(String table, int dim, int counts, DistinctIds ids, float[] rows) {
    Table known = tables.get(table);
    if (known == null) {
      tables.put(table, new Table(dim, counts, ids, rows));
    } else {
      known.add(ids, rows);
    }
  }

  /** Returns the sums, in the order in which the tables were first added. */
  public List<SparseRows> toRows() {
    List<SparseRows> out = new ArrayList<>(tables.size());
    tables.forEach((name, t) -> out.add(new SparseRows(name, t.ids, t.sums, t.counts)));
    return out;
  }
}
