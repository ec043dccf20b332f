package io.regatta.core.shard;

import io.regatta.core.hash.Mix64;
import io.regatta.core.memory.HeapBudget;
import io.regatta.core.table.SparseTable;
import io.regatta.core.table.TableGroup;

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
  private final HeapBudget memory;
  /** Bytes of rows that are counted in the budget. */
  private long counted;
  private boolean closed;
  private final long widest;
  private long draws;

  /**
   * Creates the capacity of a group of tables.
   *
   * @param widest bytes of a row of the widest table
   * @param tracked whether any table is tracked
   */
  Capacity(TableGroup group, long widest, boolean tracked, ParameterShard.Limits limits) {
    tables = group;
    rowLimit = Math.min(limits.rows(), SparseTable.ROWS_MAX);
    memory = limits.memory().parameters();
    byteLimit = limits.sparseBytes();
    this.widest = widest;
    evicts = limits.evict() && tracked;
  }

  /** Rows, of the widest table if memory is what limits them, that still fit; below 0 if there are too many. */
  long left() {
    return left(widest);
  }

  /** Returns the rows that still fit, of which each takes so many bytes of the heap. */
  long left(long rowBytes) {
    count();
    long rows = Math.min(rowLimit - tables.rows(), memory.free() / rowBytes);
    return byteLimit == 0 ? rows : Math.min(rows, Math.floorDiv(byteLimit - tables.bytes(), widest));
  }

  /** Counts rows that have come or gone since the last look; requests whose rows have been let in may create them at any time. */
  private void count() {
    long bytes = tables.bytes();
    if (bytes > counted && !closed) {
      memory.add(bytes - counted);
      counted = bytes;
    } else if (bytes < counted) {
      memory.giveBack(counted - bytes);
      counted = bytes;
    }
  }

  /** Gives back what the rows have taken of the budget. */
  void close() {
    closed = true;
    memory.giveBack(counted);
    counted = 0;
  }

  /** Rows that could be evicted. */
  long evictable() {
    return tables.evictableRows();
  }

  /**
   * Evicts, if the policy says so, until so many further rows fit or nothing is left to evict; a few for each row at most.
   *
   * @param rowBytes of each of these rows
   * @return what that cost, as {@link Turns#FLOATS} counts
   */
  long makeRoom(int rows, long rowBytes) {
    if (!evicts) {
      return 0;
    }
    long evicted = 0;
    for (long most = 4L * rows; evicted < most && left(rowBytes) < rows && evictable() > 0; evicted++) {
      tables.evict(Math.floorMod(Mix64.mix(++draws), evictable()));
    }
    return evicted * EVICTED_FLOATS;
  }

  /** The limits in words, and the settings that raise them. */
  String described() {
    return "its limit of " + rowLimit + " rows" + (byteLimit == 0 ? "" : " or " + byteLimit + " bytes")
        + (memory.free() / widest >= rowLimit - tables.rows() ? "" : ", or the memory for parameters, of which "
            + memory.free() + " of " + memory.limit() + " bytes are free for rows of up to " + widest + " bytes ("
            + HeapBudget.inWords() + "; a larger heap, -Xmx, gives more)")
        + (!evicts ? "; raise the server's row limit (parameter_server.limits.rows"
            + (byteLimit == 0 ? "" : ", sparse_bytes") + "), or use more shards"
            : ", with what can be evicted; raise the server's limits, or use more shards");
  }
}
