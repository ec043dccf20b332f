package io.regatta.core.shard;

import io.regatta.core.table.SparseTable;
import java.util.ArrayList;
import java.util.List;

/**
 * The rows of one pull on their way out of the tables, some at a time, so that a large pull can be spread over turns. Every
 * row is copied whole. Owned by the shard's thread.
 */
final class Gathering {

  /** Rows of one turn: about two milliseconds, most of which go to waiting for memory. */
  static final int TURN_ROWS = 8192;

  private final JobTables tables;
  private final boolean readOnly;
  private final List<SparseRows> rows;
  private int entry;
  private int next;
  private long births;

  /**
   * Makes room for all rows of the wish.
   *
   * @param births how many of them will be born, at most
   */
  Gathering(JobTables tables, Pull pull, long births) {
    this.tables = tables;
    this.births = births;
    readOnly = pull.readOnly();
    rows = new ArrayList<>(pull.sparse().size());
    for (SparseIds s : pull.sparse()) {
      int dim = tables.table(s.table()).spec().dim();
      rows.add(new SparseRows(s.table(), s.ids(), new float[Math.multiplyExact(s.ids().length, dim)]));
    }
  }

  /**
   * Copies so many more rows; unknown ones are born unless the pull is read-only.
   *
   * @return how many of them it did not need, or -1 if there is more to do
   */
  int advance(int most) {
    long before = tables.rows();
    int left = most;
    while (left > 0 && entry < rows.size()) {
      SparseRows r = rows.get(entry);
      SparseTable table = tables.table(r.table());
      int to = (int) Math.min(r.ids().length, (long) next + left);
      if (readOnly) {
        table.read(r.ids(), next, to, r.values());
      } else {
        table.pull(r.ids(), next, to, r.values());
      }
      left -= to - next;
      next = to;
      if (next == r.ids().length) {
        entry++;
        next = 0;
      }
    }
    births -= tables.rows() - before;
    return entry < rows.size() ? -1 : left;
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
