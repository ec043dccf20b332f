package io.regatta.core.shard.internal.push;

import io.regatta.core.dense.DenseValues;
import io.regatta.core.dense.NonFinite;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.shard.internal.job.TimeSlices;
import io.regatta.core.shard.internal.parameters.IdSet;
import io.regatta.core.shard.internal.parameters.JobTables;
import io.regatta.core.shard.internal.parameters.RowLimit;
import java.util.List;

/**
 * A check of the content of a push, some rows at a time, so that it can be spread over time slices. It checks that ids
 * belong to this shard and are distinct, and that values are finite, and counts the rows to be created. Changes
 * nothing. Owned by the shard's thread.
 */
public final class RowCheck {

  /** Cost of checking one id, in floats. */
  public static final int ID_FLOATS = 60;

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
  /** True if the sender has checked that the values are finite. */
  private final boolean finite;
  private long births;
  private String bad;

  /**
   * Creates a check of rows whose tables and lengths have been checked.
   *
   * @param push its dense values, if there are any and they arrived over a stream, know whether they are finite
   * @param rows the rows of it to check
   * @param limit decides whether new rows are counted; otherwise all ids count
   */
  public RowCheck(JobTables tables, PushCheck check, RowLimit limit, Push push, List<SparseRows> rows, String who) {
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
   * Checks further rows, for about {@code floats} of work ({@link TimeSlices#FLOATS}).
   *
   * @return the budget that is left, or -1 if there is more to do
   * @throws InvalidInput for the first id that is not this shard's, or occurs twice
   */
  public long advance(long floats) {
    long left = floats;
    while (entry < rows.size()) {
      if (left <= 0) {
        return -1;
      }
      left -= rows(rows.get(entry));
    }
    return Math.max(0, left);
  }

  /**
   * Returns true if the check must be repeated: new rows were not counted, and by now there is not room for all ids.
   */
  boolean outdated() {
    return !counted && limit.counts(rows);
  }

  /** Returns what is NaN or infinite, in words, or null; valid once all has been checked. */
  public String bad() {
    return bad;
  }

  /** Returns an upper bound of the rows to be created; valid once all has been checked. */
  public long births() {
    return births;
  }

  private long rows(SparseRows r) {
    int dim = tables.spec(r.table()).pushWidth();
    int n = r.ids().length;
    if (next == 0) {
      ascending = ascending(r.ids());
      seen = ascending ? null : check.takeIdSet(n);
    }
    int to = Math.min(n, next + TimeSlices.ROWS);
    check.owned(r.table(), r.ids(), next, to, who);
    if (!ascending) {
      distinct(r, to);
    }
    finite(r, next * dim, to * dim, dim);
    births += counted ? tables.missing(r.table(), r.ids(), next, to) : to - next;
    long cost = 1 + (to - next) * (long) (ID_FLOATS + dim + (counted ? TimeSlices.ROW_FLOATS : 0));
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
