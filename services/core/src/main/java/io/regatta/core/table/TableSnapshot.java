package io.regatta.core.table;

import io.regatta.core.error.RegattaException.InvalidInput;

/**
 * What is being saved of a table: a {@link RowWalk} over all rows, or over those changed since the last base or delta, and
 * the ids that have gone since. From {@link #take} on the table notes changes for the next delta, if it is to. Owned by the
 * table's thread; ended by {@link #end}.
 */
public final class TableSnapshot {

  /** Which rows. */
  public enum Scope {
    /** All. */
    ALL,
    /** All; changes are noted from now on. */
    BASE,
    /** Those changed since the last base or delta; changes are noted anew. */
    DELTA
  }

  private final SparseTable table;
  private final RowWalk rows;
  private final long[] removed;
  private final int removedCount;
  /** What was noted until now, if that ends with this snapshot. */
  private final ChangedRows before;
  private final boolean notes;

  private TableSnapshot(SparseTable table, RowWalk rows, Scope scope, ChangedRows before) {
    this.table = table;
    this.rows = rows;
    this.before = before;
    removed = scope == Scope.DELTA ? before.removedIds() : new long[0]; // nothing is added to them until this has ended
    removedCount = scope == Scope.DELTA ? before.removedCount() : 0;
    notes = scope != Scope.ALL;
  }

  /** Whether a delta can be taken: all changes have been noted since a base. */
  public static boolean isNoted(SparseTable table) {
    return table.watch != null && table.watch.changed != null && table.watch.changed.isWhole();
  }

  /**
   * Takes one; the table must not have another.
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
    ChangedRows before = watch.changed;
    RowWalk walk = new RowWalk(table, scope == Scope.DELTA ? before : null, keptMax);
    TableSnapshot taken = new TableSnapshot(table, walk, scope, before);
    ChangedRows noted = scope == Scope.ALL ? before : new ChangedRows();
    watch.walk = walk; // from here on nothing fails
    watch.changed = noted;
    table.watch = watch;
    return taken;
  }

  public RowWalk rows() {
    return rows;
  }

  /** Ids that had rows at the last base or delta and have gone since, {@link #removedCount} of them; some may have come again. */
  public long[] removed() {
    return removed;
  }

  /** Number of {@link #removed}. */
  public int removedCount() {
    return removedCount;
  }

  /** @param saved false: it has failed, and what it was to hold is the next delta's */
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
