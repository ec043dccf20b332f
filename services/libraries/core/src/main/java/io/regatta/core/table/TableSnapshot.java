package io.regatta.core.table;

import io.regatta.core.error.RegattaException.InvalidInput;

/**
 * A snapshot of one table: a {@link RowWalk} over its rows, and the ids removed since the last base or delta. The walk
 * goes over all rows, or over those changed since the last base or delta. After {@link #take} the table notes changes
 * for the next delta, if the scope requires it. Owned by the table's thread; {@link #end} ends it.
 */
public final class TableSnapshot {

  /** The rows that a snapshot holds. */
  public enum Scope {
    /** All rows. */
    ALL,
    /** All rows; changes are noted from now on. */
    BASE,
    /** The rows changed since the last base or delta; the noting of changes starts again. */
    DELTA
  }

  private final SparseTable table;
  private final RowWalk rows;
  private final long[] removed;
  private final int removedCount;
  /** Changes noted until now, kept in case this snapshot fails. */
  private final ChangedRowSet before;
  private final boolean notes;

  private TableSnapshot(SparseTable table, RowWalk rows, Scope scope, ChangedRowSet before) {
    this.table = table;
    this.rows = rows;
    this.before = before;
    removed = scope == Scope.DELTA ? before.removedIds() : new long[0]; // nothing is added to them until this has ended
    removedCount = scope == Scope.DELTA ? before.removedCount() : 0;
    notes = scope != Scope.ALL;
  }

  /** Returns true if a delta can be taken, that is, if all changes have been noted since a base. */
  public static boolean isNoted(SparseTable table) {
    return table.watch != null && table.watch.changed != null && table.watch.changed.isWhole();
  }

  /**
   * Takes a snapshot; the table must not have another one.
   *
   * @param keptMax bytes of rows that may be kept because they changed before they were walked over
   */
  public static TableSnapshot take(SparseTable table, Scope scope, long keptMax) {
    if (scope == Scope.DELTA && !isNoted(table)) {
      throw new InvalidInput("what has changed in table " + table.spec().name() + " is not known: no base was taken, or too many "
          + "rows have gone since; take a base");
    }
    RowWatch watch = table.watch == null ? new RowWatch() : table.watch;
    if (watch.walk != null) {
      throw new IllegalStateException("table " + table.spec().name() + " is being walked over already");
    }
    ChangedRowSet before = watch.changed;
    RowWalk walk = new RowWalk(table, scope == Scope.DELTA ? before : null, keptMax);
    TableSnapshot taken = new TableSnapshot(table, walk, scope, before);
    ChangedRowSet noted = scope == Scope.ALL ? before : new ChangedRowSet();
    watch.walk = walk; // from here on nothing fails
    watch.changed = noted;
    table.watch = watch;
    return taken;
  }

  public RowWalk rows() {
    return rows;
  }

  /**
   * Returns the ids that had rows at the last base or delta and have been removed since; some may have been created
   * again. The array is longer than {@link #removedCount}, which is the number of valid ids.
   */
  public long[] removed() {
    return removed;
  }

  /** Returns the number of {@link #removed}. */
  public int removedCount() {
    return removedCount;
  }

  /**
   * Ends the snapshot.
   *
   * @param saved false if it has failed; what it was to hold then belongs to the next delta
   */
  public void end(boolean saved) {
    rows.close();
    if (notes && !saved) {
      if (before != null) {
        before.addLater(table.watch.changed);
      }
      table.watch.changed = before;
    }
    table.watch.walk = null;
    if (table.watch.changed == null) {
      table.watch = null;
    }
  }
}
