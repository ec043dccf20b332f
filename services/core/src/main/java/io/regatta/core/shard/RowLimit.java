package io.regatta.core.shard;

import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import java.util.List;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * Keeps the sparse rows of a job on one shard within its {@link Capacity}, those included that open rounds, and pushes and
 * pulls under way, are still to bear. Births are counted, which is a look-up of every id, only if all ids together could
 * pass the limit, or if a round is to remember them; otherwise the ids stand for them. Owned by the shard's thread.
 */
final class RowLimit {

  private final JobTables tables;
  private final LongSupplier unborn;
  private final boolean exact;
  private long refused;
  private final String where;

  /** @param unborn rows that requests which have passed are still to bear, at most */
  RowLimit(JobTables tables, LongSupplier unborn, Mode mode, String where) {
    this.tables = tables;
    this.unborn = unborn;
    exact = mode == Mode.SYNC;
    this.where = where;
  }

  /** Whether the births of a push that holds these rows are to be counted; if not, all its ids stand for them. */
  boolean counts(List<SparseRows> rows) {
    long ids = 0;
    for (SparseRows r : rows) {
      ids += r.ids().length;
    }
    return exact || ids > left();
  }

  /** Rows that the answer to a pull will bear, or a higher number that is within the limit as well. */
  long births(List<SparseIds> wish) {
    long ids = 0;
    for (SparseIds s : wish) {
      ids += s.ids().length;
    }
    if (ids <= left()) {
      return ids;
    }
    long n = 0;
    for (SparseIds s : wish) {
      n += tables.missing(s.table(), s.ids(), 0, s.ids().length);
    }
    return n;
  }

  /**
   * Looks whether rows of a request have room.
   *
   * @param request what it says of each table
   * @param table the name of that table
   * @throws Overloaded if that many more rows are too many, also when all are evicted that may be
   */
  <T> void check(long births, String who, List<T> request, Function<T, String> table) {
    check(births, tables.capacity().evictable(), who, request, table);
  }

  /** The same of rows of a table of which none may push another out: those of a snapshot. */
  void checkKept(long births, String table) {
    check(births, 0, "restored rows of table " + table, List.of(table), name -> name);
  }

  private <T> void check(long births, long evictable, String who, List<T> request, Function<T, String> table) {
    if (births > 0 && births > left(request, table) + evictable) {
      refused++;
      request.forEach(rows -> tables.table(table.apply(rows)).refused());
      throw new Overloaded(who + " refused: " + births + " new sparse rows on top of "
          + (tables.rows() + unborn.getAsLong()) + " at " + where + " would pass " + tables.capacity().described());
    }
  }

  /** Requests refused for their rows. */
  long refused() {
    return refused;
  }

  /** Returns the rows left that are as wide as the widest of the request. */
  private <T> long left(List<T> request, Function<T, String> table) {
    long widest = request.stream().mapToLong(r -> tables.rowBytes(table.apply(r))).max().orElse(1);
    return tables.capacity().left(widest) - unborn.getAsLong();
  }

  private long left() {
    return tables.capacity().left() - unborn.getAsLong();
  }
}
