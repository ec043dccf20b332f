package io.regatta.core.shard.internal.parameters;

import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import java.util.List;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * The limit that keeps the sparse rows of a job on one shard within its {@link Capacity}. Rows that open rounds, pushes
 * and pulls will still create are included. New rows are counted, which takes a look-up of every id, only if all ids
 * together could pass the limit, or if a round is to remember them. Otherwise all ids count as new. Owned by the
 * shard's thread.
 */
public final class RowLimit {

  private final JobTables tables;
  private final LongSupplier unborn;
  private final boolean exact;
  private long refused;
  private final String where;

  /**
   * Creates a limit.
   *
   * @param unborn upper bound of the rows that requests which have passed will still create
   */
  public RowLimit(JobTables tables, LongSupplier unborn, Mode mode, String where) {
    this.tables = tables;
    this.unborn = unborn;
    exact = mode.hasRounds();
    this.where = where;
  }

  /** Returns true if the new rows of a push that holds these rows must be counted; if not, all its ids count as new. */
  public boolean counts(List<SparseRows> rows) {
    long ids = 0;
    for (SparseRows r : rows) {
      ids += r.ids().length;
    }
    return exact || ids > left();
  }

  /**
   * Returns the number of rows that the answer to a pull will create, or a higher number that is within the limit as
   * well.
   */
  public long births(List<SparseIds> wish) {
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
   * Checks that the rows of a request have room.
   *
   * @param births number of rows that the request will create
   * @param request the entries of the request, one for each table
   * @param table returns the name of an entry's table
   * @throws Overloaded if that many rows do not fit, even if all are evicted that may be
   */
  public <T> void check(long births, String who, List<T> request, Function<T, String> table) {
    check(births, tables.capacity().evictable(), who, request, table);
  }

  /** Checks room for rows of a table without eviction, as for those of a snapshot. */
  public void checkKept(long births, String table) {
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

  /** Returns the number of requests refused because of their rows. */
  public long refused() {
    return refused;
  }

  /** Returns how many rows as wide as the widest of the request still fit. */
  private <T> long left(List<T> request, Function<T, String> table) {
    long widest = request.stream().mapToLong(r -> tables.rowBytes(table.apply(r))).max().orElse(1);
    return tables.capacity().left(widest) - unborn.getAsLong();
  }

  private long left() {
    return tables.capacity().left() - unborn.getAsLong();
  }
}
