package io.regatta.core.shard;

import io.regatta.core.model.DensePartition;
import io.regatta.core.shard.internal.parameters.JobTables;
import io.regatta.core.table.SparseTable;
import java.util.Iterator;
import java.util.function.BooleanSupplier;

/**
 * A walk that computes the digest of one job on one shard in slices, so that it can be spread over time slices. Owned
 * by the shard's thread. It is the digest of one moment only if nothing is pushed and no row is created meanwhile.
 */
public final class DigestCursor {

  private final JobTables tables;
  private final BooleanSupplier held;
  private final Iterator<DensePartition.Part> parts;
  private final Iterator<SparseTable> sparse;
  private DensePartition.Part part;
  private int inPart;
  private SparseTable table;
  private int segment;
  private int row;
  private long sum;

  /** @param held while it says so, the values must not be looked at */
  DigestCursor(JobTables tables, BooleanSupplier held) {
    this.tables = tables;
    this.held = held;
    parts = tables.denseParts().iterator();
    sparse = tables.sparseTables().iterator();
  }

  /**
   * Hashes about {@code values} more values (≥ 1), or none while a round is being applied or rows are removed. Exceeds
   * {@code values} only by a row begun and the cost of stepping on.
   *
   * @return whether there is more to do
   */
  public boolean advance(long values) {
    if (held.getAsBoolean()) {
      return true;
    }
    long left = values;
    while (left > 0) {
      if (part != null && inPart < part.size()) {
        int n = (int) Math.min(left, part.size() - inPart);
        sum += tables.digest(part, inPart, n);
        inPart += n;
        left -= n;
      } else if (parts.hasNext()) {
        part = parts.next();
        inPart = 0;
      } else if (table != null && segment < SparseTable.SEGMENTS) {
        int dim = table.spec().dim();
        int n = (int) Math.min((left + dim - 1) / dim, table.rows(segment) - row);
        sum += table.digest(segment, row, row + n);
        row += n;
        left -= (long) n * dim;
        if (row == table.rows(segment)) {
          segment++;
          row = 0;
          left--;
        }
      } else if (sparse.hasNext()) {
        table = sparse.next();
        segment = 0;
        row = 0;
      } else {
        return false;
      }
    }
    return true;
  }

  /** The digest, once {@link #advance} has returned false. */
  public long value() {
    return sum;
  }
}
