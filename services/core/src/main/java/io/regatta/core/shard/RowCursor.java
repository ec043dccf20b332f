package io.regatta.core.shard;

import io.regatta.core.table.SparseTable;

/**
 * Walks over the rows of one sparse table on one shard, so that an export can be spread over turns. Owned by the
 * shard's thread. Rows born meanwhile may or may not be met; values are those of the moment of the slice.
 */
public final class RowCursor {

  private final SparseTable table;
  private int segment;
  private long[] ids = {};
  private int next;

  /** Values per row. */
  public int dim() {
    return table.spec().dim();
  }

  RowCursor(SparseTable table) {
    this.table = table;
  }

  /** Copies of the next rows, at least 1 and at most {@code maxRows} (≥ 1); null when all have been seen. */
  public SparseRows next(int maxRows) {
    while (next == ids.length && segment < SparseTable.SEGMENTS) {
      ids = table.ids(segment++);
      next = 0;
    }
    if (next == ids.length) {
      return null;
    }
    int to = Math.min(ids.length, next + maxRows);
    long[] slice = table.existing(ids, next, to);
    next = to;
    return new SparseRows(table.spec().name(), slice, table.pull(slice));
  }
}
