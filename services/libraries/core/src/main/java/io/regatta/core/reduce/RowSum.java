package io.regatta.core.reduce;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.shard.internal.job.TimeSlices;
import java.util.ArrayList;
import java.util.List;

/**
 * Σ factor · row over the rows of one table that several pushes hold; counts are added without a factor. Ids are in the
 * order in which they first occur, push by push, and each row's additions in that order, in float32. Summed some rows
 * at a time, so that it can be spread over time slices. Owned by one thread at a time; the pushes' arrays are read and
 * not changed.
 */
public final class RowSum {

  private final String table;
  /** Null for the rows of a single push. */
  private final RowRoom room;
  private final List<SparseRows> parts = new ArrayList<>();
  private final List<Float> factors = new ArrayList<>();
  private int part;
  private int next;

  /**
   * Creates an empty sum.
   *
   * @param room to sum in; not to be used for anything else until the sum has been read
   */
  RowSum(String table, RowRoom room) {
    this.table = table;
    this.room = room;
  }

  /** Returns the rows of a single push, without a factor, as a sum. */
  static RowSum of(SparseRows rows) {
    RowSum whole = new RowSum(rows.table(), null);
    whole.parts.add(rows);
    whole.part = 1;
    return whole;
  }

  /** Adds rows, at least one, to be summed; before the first {@link #advance}. */
  void add(float factor, SparseRows rows) {
    if (!parts.isEmpty() && (rows.dim() != dim() || rows.counts() != counts()) || rows.values().length % rows.ids().length != 0) {
      throw new InvalidInput("rows of different dimensions of table '" + table + "' in one round");
    }
    parts.add(rows);
    factors.add(factor);
  }

  /**
   * Sums up to {@code rows} more of the pushes' rows.
   *
   * @return whether there is more to do
   */
  public boolean advance(int rows) {
    int left = rows;
    while (left > 0 && part < parts.size()) {
      if (part == 0 && next == 0) {
        room.clear(parts.get(0).dim());
      }
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
    return part < parts.size();
  }

  /** Returns the number of floats of a row. */
  int dim() {
    return parts.get(0).dim();
  }

  private int counts() {
    return parts.get(0).counts();
  }

  /** Returns the number of distinct ids, once {@link #advance} has returned false. */
  public int size() {
    return room == null ? parts.get(0).ids().length : room.size();
  }

  /** A consumer of rows of the sum. */
  public interface Sink {
    /** Consumes rows {@code [from .. to)} of {@code rows}; returns the cost, in {@link TimeSlices#FLOATS}. */
    long rows(SparseRows rows, int from, int to);
  }

  /**
   * Passes rows {@code [from .. to)} of the sum to the sink, in their order, without a copy; returns the cost of the
   * sink's work.
   */
  public long read(int from, int to, Sink sink) {
    if (room == null) {
      return sink.rows(parts.get(0), from, to);
    }
    long cost = 0;
    for (int row = from; row < to; ) {
      int at = row % RowRoom.SLAB_ROWS;
      int n = Math.min(to - row, RowRoom.SLAB_ROWS - at);
      cost += sink.rows(new SparseRows(table, room.idsOf(row), room.valuesOf(row), counts()), at, at + n);
      row += n;
    }
    return cost;
  }

  /** Returns the sum, computed in one call. */
  SparseRows rows() {
    while (advance(Integer.MAX_VALUE)) { }
    if (room == null) {
      return parts.get(0);
    }
    int dim = dim();
    SparseRows all = new SparseRows(table, new long[size()], new float[Math.multiplyExact(size(), dim)], counts());
    for (int row = 0; row < size(); row += RowRoom.SLAB_ROWS) {
      int n = Math.min(size() - row, RowRoom.SLAB_ROWS);
      System.arraycopy(room.idsOf(row), 0, all.ids(), row, n);
      System.arraycopy(room.valuesOf(row), 0, all.values(), row * dim, n * dim);
    }
    return all;
  }

  private void add(float factor, SparseRows rows, int from, int to) {
    int dim = rows.dim();
    int scaled = dim - rows.counts();
    float[] g = rows.values();
    for (int i = from; i < to; i++) {
      int known = room.size();
      int row = room.rowOf(rows.ids()[i]);
      float[] values = room.valuesOf(row);
      int at = row % RowRoom.SLAB_ROWS * dim;
      if (row == known) { // not 0 + part: that would turn -0 into 0
        for (int k = 0; k < scaled; k++) {
          values[at + k] = factor * g[i * dim + k];
        }
        for (int k = scaled; k < dim; k++) {
          values[at + k] = g[i * dim + k];
        }
      } else {
        for (int k = 0; k < scaled; k++) {
          values[at + k] += factor * g[i * dim + k];
        }
        for (int k = scaled; k < dim; k++) {
          values[at + k] += g[i * dim + k];
        }
      }
    }
  }
}
