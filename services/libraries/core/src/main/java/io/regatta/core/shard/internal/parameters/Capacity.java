package io.regatta.core.shard.internal.parameters;

import io.regatta.core.hash.Mix64;
import io.regatta.core.memory.HeapBudget;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.shard.internal.job.TimeSlices;
import io.regatta.core.table.SparseTable;
import io.regatta.core.table.TableGroup;

/**
 * The capacity of a job on one shard for sparse rows: a limit of their number and one of their memory. If the policy is
 * to evict, it makes room for further rows by evicting rows of tracked tables. Owned by the shard's thread.
 */
public final class Capacity {

  /** An eviction looks at five rows anywhere in memory, and takes one out of its index: 3 µs with 10 million rows. */
  private static final long EVICTED_FLOATS = 13 * TimeSlices.ROW_FLOATS;

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
  public Capacity(TableGroup group, long widest, boolean tracked, ShardLimits limits) {
    tables = group;
    rowLimit = Math.min(limits.rows(), SparseTable.ROWS_MAX);
    memory = limits.memory().parameters();
    byteLimit = limits.sparseBytes();
    this.widest = widest;
    evicts = limits.evict() && tracked;
  }

  /**
   * Returns the number of rows that still fit; below 0 if there are too many. If memory is the limit, rows of the
   * widest table count.
   */
  public long left() {
    return left(widest);
  }

  /** Returns the number of rows of {@code rowBytes} of heap each that still fit. */
  public long left(long rowBytes) {
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
  public void close() {
    closed = true;
    memory.giveBack(counted);
    counted = 0;
  }

  /** Rows that could be evicted. */
  public long evictable() {
    return tables.evictableRows();
  }

  /**
   * Evicts rows, if that is the policy, until {@code rows} further rows fit or nothing is left to evict. Evicts at most
   * four rows for each of them.
   *
   * @param rowBytes bytes of each of these rows
   * @return the cost, in {@link TimeSlices#FLOATS}
   */
  public long makeRoom(int rows, long rowBytes) {
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
  public String described() {
    return "its limit of " + rowLimit + " rows" + (byteLimit == 0 ? "" : " or " + byteLimit + " bytes")
        + (memory.free() / widest >= rowLimit - tables.rows() ? "" : ", or the memory for parameters, of which "
            + memory.free() + " of " + memory.limit() + " bytes are free for rows of up to " + widest + " bytes ("
            + HeapBudget.inWords() + "; a larger heap, -Xmx, gives more)")
        + (!evicts ? "; raise the server's row limit (parameter_server.limits.rows"
            + (byteLimit == 0 ? "" : ", sparse_bytes") + "), or use more shards"
            : ", with what can be evicted; raise the server's limits, or use more shards");
  }
}
