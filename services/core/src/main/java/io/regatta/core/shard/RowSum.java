package io.regatta.core.shard;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.SparseRows;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Σ factor · row over the rows of one table that several pushes hold: ids in the order in which they first come, push by
 * push, each row's additions in that order, float32. Summed some rows at a time, so that it can be spread over turns.
 * Owned by one thread at a time; the pushes' arrays are read and not changed.
 */
final class RowSum {

  private final String table;
  private final List<SparseRows> parts = new ArrayList<>();
  private final List<Float> factors = new ArrayList<>();
  /** Rows of all parts. */
  private int most;
  private int part;
  private int next;
  private Long2IntOpenHashMap rowOf;
  /** What has been summed; longer than it is until all has been. */
  private SparseRows sum;
  private int n;

  RowSum(String table) {
    this.table = table;
  }

  /** Rows that are no sum, but what one push holds. */
  static RowSum of(SparseRows rows) {
    RowSum whole = new RowSum(rows.table());
    whole.sum = rows;
    whole.n = rows.ids().length;
    return whole;
  }

  /** Takes more rows in, at least one; before the first {@link #advance}. */
  void add(float factor, SparseRows rows) {
    if (!parts.isEmpty() && rows.dim() != parts.get(0).dim() || rows.values().length % rows.ids().length != 0) {
      throw new InvalidInput("rows of different dimensions of table '" + table + "' in one round");
    }
    parts.add(rows);
    factors.add(factor);
    most = Math.addExact(most, rows.ids().length);
  }

  /** Makes room for the sum, if it has none; returns about how many floats that clears. */
  long makeRoom() {
    if (sum != null) {
      return 0;
    }
    int dim = parts.get(0).dim();
    rowOf = new Long2IntOpenHashMap(most); // at its full size, so that no turn has to move all of it
    rowOf.defaultReturnValue(-1);
    sum = new SparseRows(table, new long[most], new float[Math.multiplyExact(most, dim)]);
    return most * (dim + 8L);
  }

  /**
   * Sums so many more of the parts' rows.
   *
   * @return whether there is more to do
   */
  boolean advance(int rows) {
    int left = rows;
    while (left > 0 && part < parts.size()) {
      makeRoom();
      SparseRows from = parts.get(part);
      int to = (int) Math.min(from.ids().length, (long) next + left);
      add(factors.get(part), from, next, to);
      left -= to - next;
      next = to;
      if (next == from.ids().length) {
        part++;
        next = 0;
      }
    }
    if (part == parts.size()) {
      rowOf = null;
    }
    return part < parts.size();
  }

  /** Distinct ids, when {@link #advance} has returned false. */
  int size() {
    return n;
  }

  /** The sum, in the first {@link #size()} rows of its arrays. */
  SparseRows untrimmed() {
    return sum;
  }

  /** The sum, made in one go. */
  SparseRows rows() {
    while (advance(Integer.MAX_VALUE)) { }
    return n == sum.ids().length ? sum
        : new SparseRows(table, Arrays.copyOf(sum.ids(), n), Arrays.copyOf(sum.values(), n * parts.get(0).dim()));
  }

  private void add(float factor, SparseRows rows, int from, int to) {
    int dim = rows.dim();
    float[] g = rows.values();
    float[] values = sum.values();
    for (int i = from; i < to; i++) {
      int row = rowOf.putIfAbsent(rows.ids()[i], n);
      if (row < 0) { // not 0 + part: that would turn -0 into 0
        sum.ids()[n] = rows.ids()[i];
        for (int k = 0; k < dim; k++) {
          values[n * dim + k] = factor * g[i * dim + k];
        }
        n++;
      } else {
        for (int k = 0; k < dim; k++) {
          values[row * dim + k] += factor * g[i * dim + k];
        }
      }
    }
  }
}
