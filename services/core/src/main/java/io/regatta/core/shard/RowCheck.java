package io.regatta.core.shard;

import io.regatta.core.dense.DenseValues;
import io.regatta.core.dense.NonFinite;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.SparseRows;
import java.util.List;

/**
 * Looks through what a push holds, some at a time so that it can be spread over turns: that ids belong to this shard and are
 * distinct, that values are finite, and how many rows will be born. Changes nothing. Owned by the shard's thread.
 */
final class RowCheck {

  /** What looking at one id costs, in floats. */
  static final int ID_FLOATS = 60;

  private final JobTables tables;
  private final PushCheck check;
  private final List<SparseRows> rows;
  private final String who;
  private final RowLimit limit;
  private final boolean counted;
  private final float[] marks;
  private int entry;
  private int next;
  private boolean ascending;
  private IdSet seen;
  /** The sender has seen to it. */
  private final boolean finite;
  private long births;
  private String bad;

  /**
   * Of rows whose tables and lengths have been checked.
   *
   * @param push whose dense values, if there are any and they have come over a stream, know whether they are finite
   * @param rows those of it that are to be looked through
   * @param limit says whether births are to be counted; otherwise all ids count
   */
  RowCheck(JobTables tables, PushCheck check, RowLimit limit, Push push, List<SparseRows> rows, String who) {
    this.tables = tables;
    this.check = check;
    this.rows = rows;
    this.who = who;
    this.limit = limit;
    counted = limit.counts(rows);
    marks = tables.blocks().scratch();
    finite = push.finite();
    DenseValues dense = push.dense();
    int i = dense == null || finite ? -1 : dense.nonFinite();
    bad = i < 0 ? null : "dense element " + i + " is " + dense.at(i);
  }

  /**
   * Goes on by about this much ({@link Turns#FLOATS}).
   *
   * @return what it did not need of it, or -1 if there is more to do
   * @throws InvalidInput about the first id that is not this shard's, or is there twice
   */
  long advance(long floats) {
    long left = floats;
    while (entry < rows.size()) {
      if (left <= 0) {
        return -1;
      }
      left -= rows(rows.get(entry));
    }
    return Math.max(0, left);
  }

  /** Whether it has to be made again: births were not counted, and by now there is not room for all ids. */
  boolean outdated() {
    return !counted && limit.counts(rows);
  }

  /** What is NaN or infinite, in words, or null; once all has been looked through. */
  String bad() {
    return bad;
  }

  /** Rows that will be born, at most; once all has been looked through. */
  long births() {
    return births;
  }

  private long rows(SparseRows r) {
    int dim = tables.spec(r.table()).pushWidth();
    int n = r.ids().length;
    if (next == 0) {
      ascending = ascending(r.ids());
      seen = ascending ? null : check.takeIdSet(n);
    }
    int to = Math.min(n, next + Turns.ROWS);
    check.owned(r.table(), r.ids(), next, to, who);
    if (!ascending) {
      distinct(r, to);
    }
    finite(r, next * dim, to * dim, dim);
    births += counted ? tables.missing(r.table(), r.ids(), next, to) : to - next;
    long cost = 1 + (to - next) * (long) (ID_FLOATS + dim + (counted ? Turns.ROW_FLOATS : 0));
    next = to;
    if (next == n) {
      entry++;
      next = 0;
      check.giveIdSet(seen, n);
      seen = null;
    }
    return cost;
  }

  private static boolean ascending(long[] ids) {
    for (int i = 1; i < ids.length; i++) {
      if (ids[i - 1] >= ids[i]) {
        return false;
      }
    }
    return true;
  }

  private void distinct(SparseRows r, int to) {
    for (int i = next; i < to; i++) {
      long id = r.ids()[i];
      if (!seen.add(id)) {
        throw new InvalidInput(who + " holds id " + id + " of table '" + r.table() + "' twice at " + tables.where()
            + "; sum its gradients first");
      }
    }
  }

  private void finite(SparseRows r, int from, int to, int dim) {
    for (int at = from; at < to && bad == null && !finite; at += marks.length) {
      int k = NonFinite.find(r.values(), at, Math.min(marks.length, to - at), marks);
      if (k >= 0) {
        bad = "row of id " + r.ids()[k / dim] + " of table '" + r.table() + "' holds " + r.values()[k];
      }
    }
  }
}
