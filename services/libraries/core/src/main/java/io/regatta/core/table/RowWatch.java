package io.regatta.core.table;

/**
 * An observer of the rows of a table, called before each change. It serves a walk that has not reached the row, and the
 * list of changed rows. A table that neither needs has none. Owned by its table.
 */
final class RowWatch {

  /** The walk; null if there is none. */
  RowWalk walk;
  /** The changed rows; null if no delta is planned. */
  ChangedRowSet changed;

  /** Called before a row changes. */
  void changes(int segment, int row) {
    if (walk != null) {
      walk.keep(segment, row);
    }
    if (changed != null) {
      changed.add(segment, row);
    }
  }

  /** Called after a row has been created under this number, which may have been another row's. */
  void born(int segment, int row) {
    if (walk != null) {
      walk.pass(segment, row);
    }
    if (changed != null) {
      changed.add(segment, row);
    }
  }

  /** Called before a row is removed. */
  void goes(int segment, int row, long id) {
    if (walk != null) {
      walk.keep(segment, row);
    }
    if (changed != null) {
      changed.removed(segment, row, id);
    }
  }
}
