package io.regatta.core.shard;

import io.regatta.core.hash.Mix64;
import io.regatta.core.table.SparseTable;
import io.regatta.core.table.TableGroup;
import java.util.Collection;

/**
 * How many sparse rows of a job a shard may hold, by number and by memory, and room for further ones made by evicting rows
 * of tracked tables, if the policy is that. Owned by the shard's thread.
 */
final class Capacity {

  /** An eviction looks at five rows anywhere in memory, and takes one out of its index: 3 µs with 10 million rows. */
  private static final long EVICTED_FLOATS = 13 * Turns.ROW_FLOATS;

  private final TableGroup tables;
  private final boolean evicts;
  private final long rowLimit;
  private final long byteLimit;
  private final long widest;
  private long draws;

  /** @param all the tables of the group */
  Capacity(TableGroup group, Collection<SparseTable> all, ParameterShard.Limits limits) {
    tables = group;
    rowLimit = limits.rows();
    byteLimit = limits.sparseBytes();
    widest = all.stream().mapToLong(SparseTable::rowBytes).max().orElse(1);
    evicts = limits.evict() && all.stream().anyMatch(t -> t.layout().tracked());
  }

  /** Rows, of the widest table if memory is what limits them, that still fit; below 0 if there are too many. */
  long left() {
    long rows = rowLimit - tables.rows();
    return byteLimit == 0 ? rows : Math.min(rows, Math.floorDiv(byteLimit - tables.bytes(), widest));
  }

  /** Rows that could be evicted. */
  long evictable() {
    return tables.evictableRows();
  }

  /**
   * Evicts, if the policy says so, until so many further rows fit or nothing is left to evict; a few for each row at most.
   *
   * @return what that cost, as {@link Turns#FLOATS} counts
   */
  long makeRoom(int rows) {
    if (!evicts) {
      return 0;
    }
    long evicted = 0;
    for (long most = 4L * rows; evicted < most && left() < rows && evictable() > 0; evicted++) {
      tables.evict(Math.floorMod(Mix64.mix(++draws), evictable()));
    }
    return evicted * EVICTED_FLOATS;
  }

  /** The limits in words, and the settings that raise them. */
  String described() {
    return "its limit of " + rowLimit + " rows" + (byteLimit == 0 ? "" : " or " + byteLimit + " bytes")
        + (!evicts ? "; raise the server's row limit (parameter_server.limits.rows"
            + (byteLimit == 0 ? "" : ", sparse_bytes") + "), or use more shards"
            : ", with what can be evicted; raise the server's limits, or use more shards");
  }
}
