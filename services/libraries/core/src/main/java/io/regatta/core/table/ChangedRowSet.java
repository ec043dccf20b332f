package io.regatta.core.table;

import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.util.Arrays;

/**
 * The rows of a table that have changed since this was created, a bit for each row number, and the ids that have been
 * removed. Together they make up a delta. The number of removed ids is bounded: beyond that none is noted, and no delta
 * can be made. Owned by the table's thread.
 */
final class ChangedRowSet {

  /** Largest number of removed ids that are noted: 16 MB. */
  static final int REMOVED_MAX = 1 << 21;

  /** Bits of no row, never written to: most of many tables do not change between two snapshots. */
  private static final long[][] NONE = new long[SparseTable.SEGMENTS][];

  private long[][] bits = NONE;
  /** Removed rows, even if others have been created under their numbers. */
  private long[][] gone = NONE;
  private final LongArrayList removed = new LongArrayList();
  private boolean tooMany;

  void add(int segment, int row) {
    bits = writable(bits);
    set(bits, segment, row);
  }

  private static long[][] writable(long[][] of) {
    return of == NONE ? new long[SparseTable.SEGMENTS][] : of;
  }

  private static void set(long[][] of, int segment, int row) {
    long[] words = withRoom(of, segment, (row >> 6) + 1);
    words[row >> 6] |= 1L << row;
  }

  private static long[] withRoom(long[][] of, int segment, int words) {
    long[] there = of[segment];
    if (there == null || words > there.length) {
      of[segment] = there == null ? new long[words] : Arrays.copyOf(there, Math.max(words, there.length + (there.length >> 1)));
    }
    return of[segment];
  }

  void removed(int segment, int row, long id) {
    long[] words = bits[segment];
    if (words != null && row >> 6 < words.length) {
      words[row >> 6] &= ~(1L << row);
    }
    gone = writable(gone);
    set(gone, segment, row);
    if (removed.size() == REMOVED_MAX) {
      giveUp();
    }
    if (!tooMany) {
      removed.add(id);
    }
  }

  private void giveUp() {
    tooMany = true;
    removed.clear();
    removed.trim();
  }

  /** Returns true if all changes are noted, so that a delta can be made of them. */
  boolean isWhole() {
    return !tooMany;
  }

  boolean has(int segment, int row) {
    long[] words = bits[segment];
    return words != null && row >> 6 < words.length && (words[row >> 6] >>> row & 1) != 0;
  }

  /** Returns the first changed row of a segment at or after this one, or -1. */
  int next(int segment, int row) {
    long[] words = bits[segment];
    int word = row >> 6;
    if (words == null || word >= words.length) {
      return -1;
    }
    for (long rest = words[word] & -1L << row; ; rest = words[word]) {
      if (rest != 0) {
        return (word << 6) + Long.numberOfTrailingZeros(rest);
      }
      if (++word == words.length) {
        return -1;
      }
    }
  }

  /** Returns the number of changed rows. */
  long size() {
    long n = 0;
    if (bits == NONE) {
      return n;
    }
    for (long[] words : bits) {
      for (int w = 0; words != null && w < words.length; w++) {
        n += Long.bitCount(words[w]);
      }
    }
    return n;
  }

  /**
   * Returns the removed ids, some of which may have been created again. The array is shared, and longer than {@link
   * #removedCount}.
   */
  long[] removedIds() {
    return removed.elements();
  }

  /** Returns the number of removed ids. */
  int removedCount() {
    return removed.size();
  }

  /**
   * Adds later changes, and drops the rows removed since, because the delta that was to hold these has failed. Works on
   * 64 rows at a time.
   */
  void addLater(ChangedRowSet later) {
    if (later.bits != NONE) {
      bits = writable(bits);
    }
    for (int s = 0; s < bits.length; s++) {
      long[] without = later.gone[s];
      for (int w = 0; bits[s] != null && without != null && w < Math.min(bits[s].length, without.length); w++) {
        bits[s][w] &= ~without[w];
      }
      long[] more = later.bits[s];
      for (int w = 0; more != null && w < more.length; w++) {
        withRoom(bits, s, more.length)[w] |= more[w];
      }
    }
    if (tooMany || later.tooMany || removed.size() + later.removed.size() > REMOVED_MAX) {
      giveUp();
    } else {
      removed.addAll(later.removed);
    }
  }
}
