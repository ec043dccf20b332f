package io.regatta.core.memory;

/**
 * Limits of one shard.
 *
 * @param jobs jobs at a time
 * @param openRounds sync rounds open at a time, and per job and trainer: pushes that wait for a later time slice, and
 *     pushes that wait for a snapshot
 * @param parkedPulls pulls that wait or are being answered at a time, per job
 * @param rows sparse rows in all tables of a job
 * @param sparseBytes bytes of memory that these may take ({@link io.regatta.core.table.SparseTable#rowBytes}); 0: no
 *     limit
 * @param evict whether rows of tracked tables make room for new ones when a limit is reached; otherwise requests that
 *     would pass it are refused
 * @param memory budgets of the heap: a pull without room for its rows waits. A pull that could never have room is
 *     refused, and so are parameters
 */
public record ShardLimits(int jobs, int openRounds, int parkedPulls, long rows, long sparseBytes, boolean evict,
    ShardMemory memory) {

  /** Creates limits with heap budgets of their own, shared with nobody. */
  public ShardLimits(int jobs, int openRounds, int parkedPulls, long rows, long sparseBytes, boolean evict) {
    this(jobs, openRounds, parkedPulls, rows, sparseBytes, evict, ShardMemory.own());
  }

  /** Creates limits of the number of rows alone; requests that would pass it are refused. */
  public ShardLimits(int jobs, int openRounds, int parkedPulls, long rows) {
    this(jobs, openRounds, parkedPulls, rows, 0, false);
  }

  /** Returns the limits of a shard about which nothing is configured. */
  public static ShardLimits defaults() {
    return new ShardLimits(64, 64, 4096, 200_000_000L);
  }
}
