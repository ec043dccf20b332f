package io.regatta.core.shard;

import io.regatta.core.error.RegattaException.Overloaded;
import java.util.List;

/** Keeps the sparse rows of a job on one shard within a limit, those that open rounds will bear included. */
final class RowLimit {

  private final JobTables tables;
  private final SyncRounds rounds;
  private final long limit;
  private final String where;

  RowLimit(JobTables tables, SyncRounds rounds, long limit, String where) {
    this.tables = tables;
    this.rounds = rounds;
    this.limit = limit;
    this.where = where;
  }

  long births(Push push) {
    long n = 0;
    for (SparseRows r : push.sparse()) {
      n += tables.table(r.table()).missing(r.ids());
    }
    return n;
  }

  long births(List<SparseIds> wish) {
    long n = 0;
    for (SparseIds s : wish) {
      n += tables.table(s.table()).missing(s.ids());
    }
    return n;
  }

  /** @throws Overloaded if that many more rows are too many */
  void check(long births, String who) {
    long rows = tables.rows() + rounds.births();
    if (births > 0 && rows + births > limit) {
      throw new Overloaded(who + " refused: " + births + " new sparse rows on top of " + rows + " at " + where
          + " would pass its limit of " + limit + " rows; raise the server's row limit, or use more shards");
    }
  }
}
