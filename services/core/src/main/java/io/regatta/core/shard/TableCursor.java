package io.regatta.core.shard;

import io.regatta.core.table.SparseTable;
import io.regatta.core.table.TableCounts;
import java.util.Iterator;

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

  private final Iterator<SparseTable> tables;

  TableCursor(Iterable<SparseTable> tables) {
    this.tables = tables.iterator();
  }

  /**
   * Visits further tables, until they have cost so much.
   *
   * @return what is left of the slice; 0 or less if there may be more tables
   */
  public int advance(int slice, Visitor visitor) {
    int left = slice;
    while (left > 0 && tables.hasNext()) {
      SparseTable t = tables.next();
      left -= visitor.table(t.spec().name(), t.size(), t.counts());
    }
    return left;
  }
}
