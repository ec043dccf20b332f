package io.regatta.core.table;

import java.util.function.LongSupplier;

/**
 * The state that the sparse tables of one job on one shard share. It consists of running totals of their rows, their
 * training clock, and scratch memory for look-ups. Each creation and removal updates the totals, so that no reader
 * walks over tables. Owned by the thread of the shard.
 */
public final class TableGroup {

  private final TrainingClock clock;
  private final SparseTable[] tables;
  /** Fenwick tree ("A new data structure for cumulative frequency tables", 1994) of evictable rows by table; or null. */
  private final long[] evictable;
  private int count;
  /** The open snapshot; null if there is none. */
  private GroupSnapshot open;
  /** Number of snapshots begun so far: each is a moment, which each table notices before it changes. */
  private int moments;
  /** True if tables note their changes, because a base has been taken. */
  private boolean notes;
  private long rows;
  private long bytes;
  private long created;
  private long evictableRows;
  /** Hashes of a block of ids that is looked up, of whichever table. */
  final long[] hashes = new long[SparseTable.BLOCK];
  /** Row numbers of that block. */
  final int[] found = new int[SparseTable.BLOCK];

  /**
   * Creates a group without tables.
   *
   * @param tables how many tables will be created in it, at most
   * @param evicts whether {@link #evict} will be called
   * @param monotonicMillis milliseconds since any moment, which never go back and never jump
   */
  public TableGroup(int tables, boolean evicts, LongSupplier monotonicMillis) {
    this.tables = new SparseTable[tables];
    evictable = evicts ? new long[tables + 1] : null;
    clock = new TrainingClock(monotonicMillis);
  }

  /** Returns the number of a further table. */
  int nextNumber() {
    return count;
  }

  /** Adds a table that has no rows yet, under a number in [0, {@link #capacity}) that no other has. */
  void add(SparseTable table, int number) {
    tables[number] = table;
    count++;
  }

  /** Returns how many tables there can be. */
  int capacity() {
    return tables.length;
  }

  /** Returns the table of a number; null: there is none yet. */
  SparseTable table(int number) {
    return tables[number];
  }

  /** Returns the number of moments so far. */
  int moments() {
    return moments;
  }

  /** Returns whether tables note what changes, for a delta. */
  public boolean notes() {
    return notes;
  }

  /** Begins a snapshot: now is a new moment. */
  void begin(GroupSnapshot snapshot, boolean notesFromNow) {
    if (open != null) {
      throw new IllegalStateException("a snapshot of these tables is open already");
    }
    open = snapshot;
    moments++;
    notes = notesFromNow;
  }

  /** Has an open snapshot take a table, which notices its moment. */
  void take(SparseTable table) {
    if (open != null) {
      open.take(table);
    }
  }

  /** Ends the open snapshot. */
  void end(boolean notesFromNow) {
    open = null;
    notes = notesFromNow;
  }

  TrainingClock clock() {
    return clock;
  }

  /** Returns the number of rows in all tables, those that are not admitted yet included. */
  public long rows() {
    return rows;
  }

  /** Returns the bytes of memory that these rows take, as {@link SparseTable#rowBytes} counts them. */
  public long bytes() {
    return bytes;
  }

  /** Returns the number of rows created so far, those removed since included. */
  public long created() {
    return created;
  }

  /** Returns the number of rows that {@link #evict} could remove; 0 in a group that does not evict. */
  public long evictableRows() {
    return evictableRows;
  }

  void rowCreated(SparseTable table) {
    created++;
    changed(table, 1);
  }

  void rowsRemoved(SparseTable table, int n) {
    changed(table, -n);
  }

  private void changed(SparseTable table, int n) {
    rows += n;
    bytes += n * table.rowBytes();
    if (evictable != null && table.layout().tracked()) {
      evictableRows += n;
      for (int i = table.number() + 1; i < evictable.length; i += i & -i) {
        evictable[i] += n;
      }
    }
  }

  /**
   * Removes one row, see {@link SparseTable#evict}, of the tracked table that holds the evictable row number {@code
   * at}. Evictable rows are numbered table by table, so that each table's chance is proportional to its rows. Takes
   * time logarithmic in the number of tables.
   *
   * @param at in [0, {@link #evictableRows})
   */
  public void evict(long at) {
    int table = 0;
    long left = at;
    for (int step = Integer.highestOneBit(evictable.length); step > 0; step >>= 1) {
      if (table + step < evictable.length && evictable[table + step] <= left) {
        table += step;
        left -= evictable[table];
      }
    }
    tables[table].evict();
  }
}
