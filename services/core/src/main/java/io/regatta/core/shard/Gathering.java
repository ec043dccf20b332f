package io.regatta.core.shard;

import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.table.SparseTable;
import java.util.ArrayList;
import java.util.List;

/**
 * The rows of one pull on their way out of the tables, some at a time, so that a large pull can be spread over turns. Every
 * row is copied whole. Owned by the shard's thread.
 */
final class Gathering {

  private final JobTables tables;
  private final boolean readOnly;
  private final List<SparseIds> wish;
  /** Of the wishes so far: room is made for a table's when its turn comes. */
  private final List<SparseRows> rows = new ArrayList<>();
  private int entry;
  private int next;
  private long births;

  /**
   * Of which nothing has been copied.
   *
   * @param births how many rows will be born, at most
   */
  Gathering(JobTables tables, List<SparseIds> wish, boolean readOnly, long births) {
    this.tables = tables;
    this.wish = wish;
    this.births = births;
    this.readOnly = readOnly;
  }

  /**
   * Goes on by about this much ({@link Turns#FLOATS}); unknown rows are born unless the pull is read-only.
   *
   * @return what it did not need of it, or -1 if there is more to do
   */
  long advance(long floats) {
    long before = tables.births();
    long left = floats;
    while (left > 0 && entry < wish.size()) {
      left -= copy(wish.get(entry));
    }
    births -= tables.births() - before;
    return entry < wish.size() ? -1 : Math.max(0, left);
  }

  private long copy(SparseIds w) {
    SparseTable table = tables.table(w.table());
    if (entry == rows.size()) {
      rows.add(new SparseRows(w.table(), w.ids(), new float[Math.multiplyExact(w.ids().length, table.spec().dim())]));
    }
    SparseRows r = rows.get(entry);
    int to = Math.min(r.ids().length, next + Turns.ROWS);
    long cost;
    if (readOnly) {
      table.read(r.ids(), next, to, r.values());
      cost = Turns.rowsCost(to - next, table.spec().dim());
    } else {
      cost = tables.pull(table, r.ids(), next, to, r.values());
    }
    next = to;
    if (next == r.ids().length) {
      entry++;
      next = 0;
    }
    return cost;
  }

  /** Rows that it is still to bear, at most. */
  long births() {
    return births;
  }

  /** The rows, whole when {@link #advance} has not returned -1. */
  List<SparseRows> rows() {
    return rows;
  }
}
