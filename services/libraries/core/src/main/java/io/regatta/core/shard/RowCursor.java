package io.regatta.core.shard;

import io.regatta.core.exchange.SparseRows;
import io.regatta.core.table.SparseTable;
import java.util.Arrays;

/**
 * A walk over the rows of one sparse table on one shard, so that an export can be spread over time slices. Every row is
 * visited at most once, with its values at the moment of the slice. Rows that are not admitted are left out, and so are
 * rows that are removed before they are visited. Rows created meanwhile may or may not be visited; in a table that
 * removes rows they are not. Owned by the shard's thread.
 */
public final class RowCursor {

  private final SparseTable table;
  private final int mark;
  private int segment;
  private int row;

  /** Values per row. */
  public int dim() {
    return table.spec().dim();
  }

  RowCursor(SparseTable table) {
    this.table = table;
    mark = table.mark();
  }

  /**
   * Returns copies of the next rows, at most {@code maxRows} (≥ 1); null after the last one. Returns none if it has
   * examined that many that are left out.
   */
  public SparseRows next(int maxRows) {
    int looked = 0;
    while (segment < SparseTable.SEGMENTS) {
      int n = Math.min(maxRows, table.rows(segment) - row);
      if (n == 0) {
        segment++;
        row = 0;
        continue;
      }
      long[] ids = new long[n];
      float[] values = new float[Math.multiplyExact(n, dim())];
      int copied = table.copy(segment, row, n, mark, ids, values);
      row += n;
      looked += n;
      if (copied == n) {
        return new SparseRows(table.spec().name(), ids, values);
      }
      if (copied > 0 || looked >= maxRows) {
        return new SparseRows(table.spec().name(), Arrays.copyOf(ids, copied), Arrays.copyOf(values, copied * dim()));
      }
    }
    return null;
  }
}
