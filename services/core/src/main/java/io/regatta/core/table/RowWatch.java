package io.regatta.core.table;

/**
 * Told of every row of a table before it changes, for those who want it as it is now: a walk that has not come to it, and the
 * list of what has changed. A table that nobody watches has none. Owned by its table.
 */
final class RowWatch {

  /** Null if none is under way. */
  RowWalk walk;
  /** Null if nobody asked for deltas. */
  ChangedRows changed;

  /** The row is about to change. */
  void changes(int segment, int row) {
    if (walk != null) {
      walk.keep(segment, row);
    }
    if (changed != null) {
      changed.add(segment, row);
    }
  }

  /** A row has been born under this number, which may have been another row's. */
  void born(int segment, int row) {
    if (walk != null) {
      walk.pass(segment, row);
    }
    if (changed != null) {
      changed.add(segment, row);
    }
  }

  /** The row is about to be removed. */
  void goes(int segment, int row, long id) {
    if (walk != null) {
      walk.keep(segment, row);
    }
    if (changed != null) {
      changed.removed(segment, row, id);
    }
  }
}
