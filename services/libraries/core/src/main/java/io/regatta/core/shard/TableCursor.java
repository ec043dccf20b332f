package io.regatta.core.shard;

import io.regatta.core.shard.internal.parameters.JobTables;
import io.regatta.core.table.SparseTable;
import io.regatta.core.table.TableCounts;

/**
 * Walk over the sparse tables of one job on one shard, so that what is shown of each can be spread over turns. Owned by the
 * shard's thread. Rows and counts are those of the moment of the slice.
 */
public final class TableCursor {

  /** Takes what is shown of a table. */
  public interface Visitor {
    /** @return what it cost, of the slice */
    int table(String name, long rows, TableCounts counts);
  }

  /** Null: there are none. */
  private final JobTables tables;
  private int next;

  TableCursor(JobTables tables) {
    this.tables = tables;
  }

  /**
   * Visits further tables, until they have cost so much.
   *
   * @return what is left of the slice; 0 or less if there may be more tables
   */
  public int advance(int slice, Visitor visitor) {
    int left = slice;
    for (; left > 0 && tables != null && next < tables.count(); next++) {
      SparseTable t = tables.created(next);
      left -= visitor.table(tables.spec(next).name(), t == null ? 0 : t.size(), t == null ? TableCounts.NONE : t.counts());
    }
    return left;
  }
}
