package io.regatta.core.shard;

import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.shard.internal.job.TimeSlices;
import io.regatta.core.shard.internal.parameters.ChangedRowsCollector;
import io.regatta.core.shard.internal.parameters.CountedPulls;
import io.regatta.core.shard.internal.parameters.JobTables;
import io.regatta.core.table.SparseTable;
import java.util.ArrayList;
import java.util.List;

/**
 * A gathering of the rows of one pull from the tables, some at a time, so that a large pull can be spread over time
 * slices. Every row is copied whole. Owned by the shard's thread.
 */
final class Gathering {

  /** Longest array of values. */
  private static final int FLOATS_MAX = Integer.MAX_VALUE - 8;

  private final JobTables tables;
  private final Pull pull;
  private final CountedPulls counted;
  /** Null if what has changed is not asked for. */
  private final ChangedRowsCollector changes;
  private final List<SparseIds> wish;
  /** Rows of the requested tables so far; the array of a table is allocated when its first row is copied. */
  private final List<SparseRows> rows = new ArrayList<>();
  private boolean collected;
  private boolean waitsForRoom;
  private int entry;
  private int next;
  private long births;

  /**
   * Creates a gathering of which nothing has been copied.
   *
   * @param births upper bound of the rows that will be created
   * @param counted the pulls of the trainer that have counted
   * @param changes the rows that have changed, if the pull asks for them; else null
   */
  Gathering(JobTables tables, Pull pull, long births, CountedPulls counted, ChangedRowsCollector changes) {
    this.tables = tables;
    this.pull = pull;
    this.births = births;
    this.counted = counted;
    this.changes = changes;
    wish = new ArrayList<>(pull.sparse());
  }

  /** Returns the version up to which all changes are among the rows, if they were asked for. */
  long changesUpTo() {
    return changes.version();
  }

  /**
   * Copies further rows, for about {@code floats} of work ({@link TimeSlices#FLOATS}). Unknown rows are created unless
   * the pull is read-only.
   *
   * @return the budget that is left, or -1 if there is more to do
   */
  long advance(long floats) {
    long before = tables.births();
    long left = floats;
    if (changes != null && !collected) {
      left = changes.advance(left);
      if (left < 0) {
        return -1;
      }
      collected = true;
      waitsForRoom = !changes.found().isEmpty();
      wish.addAll(changes.found());
      if (waitsForRoom) {
        return Math.max(0, left);
      }
    }
    while (left > 0 && entry < wish.size()) {
      left -= copy(wish.get(entry));
    }
    births -= tables.births() - before;
    return entry < wish.size() ? -1 : Math.max(0, left);
  }

  /** Returns true if the changed rows are known and nothing has been copied; copying resumes after {@link #hasRoom}. */
  boolean waitsForRoom() {
    return waitsForRoom;
  }

  /** Notes that there is room for the changed rows. */
  void hasRoom() {
    waitsForRoom = false;
  }

  /** Returns the bytes of the changed rows with their ids. */
  long changedBytes() {
    long bytes = 0;
    for (SparseIds s : changes.found()) {
      bytes += s.ids().length * (long) Long.BYTES + Float.BYTES * floats(tables, s);
    }
    return bytes;
  }

  /** Returns true if the changed rows of a table do not fit an array. */
  boolean tooLong() {
    return changes.found().stream().anyMatch(s -> isTooLong(floats(tables, s)));
  }

  /** Returns the number of values in these rows, which an answer has in one array. */
  static long floats(JobTables tables, SparseIds rows) {
    return rows.ids().length * (long) tables.spec(rows.table()).dim();
  }

  /** Returns true if that number of values does not fit an array. */
  static boolean isTooLong(long floats) {
    return floats > FLOATS_MAX;
  }

  private long copy(SparseIds w) {
    SparseTable table = tables.table(w.table());
    if (entry == rows.size()) {
      rows.add(new SparseRows(w.table(), w.ids(), new float[w.ids().length * table.spec().dim()]));
    }
    SparseRows r = rows.get(entry);
    int to = Math.min(r.ids().length, next + TimeSlices.ROWS);
    long cost;
    if (pull.readOnly()) {
      cost = tables.read(table, r.ids(), next, to, r.values());
    } else {
      cost = tables.pull(table, r.ids(), next, to, r.values(), counted.of(pull.minStep(), table, r.ids().length));
    }
    next = to;
    if (next == r.ids().length) {
      entry++;
      next = 0;
    }
    return cost;
  }

  /** Returns an upper bound of the rows that this will still create. */
  long births() {
    return births;
  }

  /** The rows, whole when {@link #advance} has not returned -1. */
  List<SparseRows> rows() {
    return rows;
  }
}
