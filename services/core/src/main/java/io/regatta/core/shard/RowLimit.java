package io.regatta.core.shard;

import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Keeps the sparse rows of a job on one shard within a limit, those included that open rounds, and pushes and pulls under
 * way, are still to bear. Births are counted, which is a look-up of every id, only if all ids together could pass the
 * limit, or if a round is to remember them; otherwise the ids stand for them. Owned by the shard's thread.
 */
final class RowLimit {

  private final JobTables tables;
  private final LongSupplier unborn;
  private final boolean exact;
  private final long limit;
  private final String where;

  /** @param unborn rows that requests which have passed are still to bear, at most */
  RowLimit(JobTables tables, LongSupplier unborn, Mode mode, long limit, String where) {
    this.tables = tables;
    this.unborn = unborn;
    exact = mode == Mode.SYNC;
    this.limit = limit;
    this.where = where;
  }

  /** Whether the births of a push that holds these rows are to be counted; if not, all its ids stand for them. */
  boolean counts(List<SparseRows> rows) {
    long ids = 0;
    for (SparseRows r : rows) {
      ids += r.ids().length;
    }
    return exact || rows() + ids > limit;
  }

  /** Rows that the answer to a pull will bear, or a higher number that is within the limit as well. */
  long births(List<SparseIds> wish) {
    long ids = 0;
    for (SparseIds s : wish) {
      ids += s.ids().length;
    }
    if (rows() + ids <= limit) {
      return ids;
    }
    long n = 0;
    for (SparseIds s : wish) {
      n += tables.table(s.table()).missing(s.ids());
    }
    return n;
  }

  /** @throws Overloaded if that many more rows are too many */
  void check(long births, String who) {
    long rows = rows();
    if (births > 0 && rows + births > limit) {
      throw new Overloaded(who + " refused: " + births + " new sparse rows on top of " + rows + " at " + where
          + " would pass its limit of " + limit + " rows; raise the server's row limit, or use more shards");
    }
  }

  private long rows() {
    return tables.rows() + unborn.getAsLong();
  }
}
