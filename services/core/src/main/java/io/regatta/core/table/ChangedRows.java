package io.regatta.core.table;

import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.util.Arrays;

/**
 * Which rows of a table have changed since it was made, a bit for each row number, and the ids that have gone: what a delta
 * consists of. Ids that have gone are bounded: beyond that nothing is noted any more, and no delta can be made of it. Owned by
 * the table's thread.
 */
final class ChangedRows {

  /** Ids that have gone: 16 MB, which are copied in one turn. */
  static final int REMOVED_MAX = 1 << 21;

  private final long[][] bits = new long[SparseTable.SEGMENTS][];
  private final LongArrayList removed = new LongArrayList();
  private boolean tooMany;

  void add(int segment, int row) {
    long[] words = bits[segment];
    int word = row >> 6;
    if (words == null || word >= words.length) {
      words = words == null ? new long[word + 1] : Arrays.copyOf(words, Math.max(word + 1, words.length + (words.length >> 1)));
      bits[segment] = words;
    }
    words[word] |= 1L << row;
  }

  void removed(int segment, int row, long id) {
    long[] words = bits[segment];
    if (words != null && row >> 6 < words.length) {
      words[row >> 6] &= ~(1L << row);
    }
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

  /** Whether all is noted, so that a delta can be made of it. */
  boolean isWhole() {
    return !tooMany;
  }

  boolean has(int segment, int row) {
    long[] words = bits[segment];
    return words != null && row >> 6 < words.length && (words[row >> 6] >>> row & 1) != 0;
  }

  /** The first changed row of a segment from this one on, or -1. */
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

  /** Number of changed rows. */
  long size() {
    long n = 0;
    for (long[] words : bits) {
      for (int w = 0; words != null && w < words.length; w++) {
        n += Long.bitCount(words[w]);
      }
    }
    return n;
  }

  /** Ids that have gone; some may have come again. */
  long[] removedIds() {
    return removed.toLongArray();
  }

  /** Adds what has changed later, and leaves out what has gone: the delta that was to hold this has failed. */
  void addLater(ChangedRows later, SparseTable table) {
    for (int s = 0; s < bits.length; s++) {
      for (int row = later.next(s, 0); row >= 0; row = later.next(s, row + 1)) {
        add(s, row);
      }
      for (int row = next(s, 0); row >= 0; row = next(s, row + 1)) {
        if (!table.segmentAt(s).holds(row)) {
          bits[s][row >> 6] &= ~(1L << row);
        }
      }
    }
    if (tooMany || later.tooMany || removed.size() + later.removed.size() > REMOVED_MAX) {
      giveUp();
    } else {
      removed.addAll(later.removed);
    }
  }
}
