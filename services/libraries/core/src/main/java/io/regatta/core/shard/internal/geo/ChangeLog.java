package io.regatta.core.shard.internal.geo;

import io.regatta.core.exchange.SparseIds;
import io.regatta.core.hash.Mix64;
import io.regatta.core.shard.internal.job.TimeSlices;
import io.regatta.core.shard.internal.parameters.ChangedRowsCollector;
import it.unimi.dsi.fastutil.longs.AbstractLong2LongMap.BasicEntry;
import it.unimi.dsi.fastutil.longs.Long2LongLinkedOpenHashMap;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Log of the sparse rows that geo's deltas have changed. It holds each row once, with the version of its last change,
 * in the order of these versions. A reader is represented by the version up to which it has received the changes; what
 * it still needs lies at the log's end. A change therefore costs the same for any number of readers, and an answer
 * costs what it holds. Owned by the shard's thread.
 *
 * <p>The log holds no more entries than the tables have rows, however far a reader is behind. Entries that all readers
 * have received are removed gradually, as others are added. A table's entries lie in 256 maps with different load
 * factors, so that they do not all grow at the same time. Each map is small enough to grow, or to be walked, within a
 * time slice.
 */
public final class ChangeLog {

  /** Cost of noting one change, in floats: a look-up anywhere in memory. */
  public static final int NOTED_FLOATS = TimeSlices.ROW_FLOATS / 2;

  public static final int PARTS = 256;
  private static final int PART_SHIFT = Long.SIZE - 8;
  /** Entries that may go with each one that comes: more than one, so that a log which was long becomes short. */
  private static final int FORGOTTEN = 2;

  /** The changed rows of one table. */
  private static final class Rows {
    /** Id → version of its last change, in the order of these; null where there are none. */
    private final Long2LongLinkedOpenHashMap[] parts = new Long2LongLinkedOpenHashMap[PARTS];
    /** Version of the first entry of each part, or an earlier one. */
    private final long[] first = new long[PARTS];
    private long last;
  }

  private final Map<String, Rows> tables = new LinkedHashMap<>();
  private long version;
  private long told;

  /** Returns the version of the last change. */
  public long version() {
    return version;
  }

  /** Notes that the rows of {@code ids[from .. to)} have changed. */
  public void add(String table, long[] ids, int from, int to) {
    if (from == to) {
      return;
    }
    version++;
    Rows rows = tables.computeIfAbsent(table, t -> new Rows());
    rows.last = version;
    for (int i = from; i < to; i++) {
      add(rows, (int) (Mix64.mix(ids[i]) >>> PART_SHIFT), ids[i]);
    }
  }

  private void add(Rows rows, int p, long id) {
    Long2LongLinkedOpenHashMap part = rows.parts[p];
    if (part == null) {
      part = new Long2LongLinkedOpenHashMap(Long2LongLinkedOpenHashMap.DEFAULT_INITIAL_SIZE, 0.75f - 0.25f * p / PARTS);
      rows.parts[p] = part;
      rows.first[p] = version;
    }
    part.putAndMoveToLast(id, version);
    for (int n = 0; n < FORGOTTEN && rows.first[p] <= told; n++) {
      long first = part.firstLongKey();
      long changed = part.get(first);
      if (changed <= told) {
        part.removeFirstLong();
      }
      rows.first[p] = changed;
    }
  }

  /** Allows later changes to remove the entries that all readers have received: those up to this version. */
  public void forget(long version) {
    told = Math.max(told, version);
  }

  /** Returns the number of entries. */
  public long size() {
    long n = 0;
    for (Rows rows : tables.values()) {
      for (Long2LongLinkedOpenHashMap part : rows.parts) {
        n += part == null ? 0 : part.size();
      }
    }
    return n;
  }

  /** Returns the rows that have changed after this version, to be collected; the log must not {@link #forget} them before. */
  public Reading after(long version) {
    List<Map.Entry<String, Rows>> changed = new ArrayList<>();
    for (Iterator<Map.Entry<String, Rows>> all = tables.entrySet().iterator(); all.hasNext(); ) {
      Map.Entry<String, Rows> rows = all.next();
      if (rows.getValue().last > version) {
        changed.add(Map.entry(rows.getKey(), rows.getValue()));
      } else if (rows.getValue().last <= told) {
        all.remove();
      }
    }
    return new Reading(changed, version, this.version);
  }

  /** A walk from the log's end to the first entry that its reader has not received. */
  public static final class Reading implements ChangedRowsCollector {

    /** Costs in floats: of a part, of an id in it, and of its copy. */
    public static final int PART_FLOATS = 64;
    public static final int ID_FLOATS = 16;
    public static final int COPIED_FLOATS = 2;
    private static final int PAGE = 4096;

    private final Iterator<Map.Entry<String, Rows>> tables;
    private final long after;
    private final long version;
    private final List<SparseIds> found = new ArrayList<>();
    private final List<long[]> pages = new ArrayList<>();
    private int inPage = PAGE;
    private Map.Entry<String, Rows> table;
    private int part;
    /** All of the table's, once they have been counted. */
    private long[] ids;
    private int copied;

    private Reading(List<Map.Entry<String, Rows>> tables, long after, long version) {
      this.tables = tables.iterator();
      this.after = after;
      this.version = version;
    }

    @Override
    public long version() {
      return version;
    }

    @Override
    public List<SparseIds> found() {
      return found;
    }

    @Override
    public long advance(long floats) {
      long left = floats;
      while (table != null || next()) {
        if (left <= 0) {
          return -1;
        }
        left -= part < PARTS ? walk(table.getValue().parts[part++]) : copy();
      }
      return Math.max(0, left);
    }

    private boolean next() {
      part = 0;
      table = tables.hasNext() ? tables.next() : null;
      return table != null;
    }

    private long walk(Long2LongLinkedOpenHashMap rows) {
      long n = 0;
      if (rows != null && !rows.isEmpty()) {
        var entries = rows.long2LongEntrySet().fastIterator(new BasicEntry(rows.lastLongKey(), 0));
        while (entries.hasPrevious()) {
          var entry = entries.previous();
          if (entry.getLongValue() <= after) {
            break;
          }
          add(entry.getLongKey());
          n++;
        }
      }
      return PART_FLOATS + ID_FLOATS * n;
    }

    private void add(long id) {
      if (inPage == PAGE) {
        pages.add(new long[PAGE]);
        inPage = 0;
      }
      pages.get(pages.size() - 1)[inPage++] = id;
    }

    /** Copies a page to where all of the table are to be. */
    private long copy() {
      if (ids == null) {
        ids = new long[Math.toIntExact((pages.size() - 1L) * PAGE + inPage)];
        copied = 0;
      }
      int n = Math.min(PAGE, ids.length - copied);
      System.arraycopy(pages.get(copied / PAGE), 0, ids, copied, n);
      copied += n;
      if (copied == ids.length) {
        found.add(new SparseIds(table.getKey(), ids));
        ids = null;
        pages.clear();
        inPage = PAGE;
        table = null;
      }
      return (long) COPIED_FLOATS * n;
    }
  }
}
