package io.regatta.core.shard;

import io.regatta.core.exchange.SparseRows;
import io.regatta.core.table.SparseTable;

/**
 * Walks over the rows of one sparse table on one shard, so that an export can be spread over turns. Owned by the
 * shard's thread. Rows born meanwhile may or may not be met; values are those of the moment of the slice.
 */
public final class RowCursor {

  private final SparseTable table;
  private int segment;
  private int row;

  /** Values per row. */
  public int dim() {
    return table.spec().dim();
  }

  RowCursor(SparseTable table) {
    this.table = table;
  }

  /** Copies of the next rows, at least 1 and at most {@code maxRows} (≥ 1); null when all have been seen. */
  public SparseRows next(int maxRows) {
    while (segment < SparseTable.SEGMENTS && row == table.rows(segment)) {
      segment++;
      row = 0;
    }
    if (segment == SparseTable.SEGMENTS) {
      return null;
    }
    int n = Math.min(maxRows, table.rows(segment) - row);
    long[] ids = new long[n];
    float[] values = new float[Math.multiplyExact(n, dim())];
    table.copy(segment, row, n, ids, values);
    row += n;
    return new SparseRows(table.spec().name(), ids, values);
  }
}
