package io.regatta.core.sketch;

import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Counts of distinct values, exact up to a limit of distinct values. Beyond it there are no counts, and the values are
 * dropped. One owner.
 */
public final class ValueCounts {

  private static final int FIRST_LENGTH = 64;

  private final int limit;
  /** Index of each key in the arrays. */
  private final Long2IntOpenHashMap places = new Long2IntOpenHashMap();
  private long[] keys = new long[FIRST_LENGTH];
  private long[] counts = new long[FIRST_LENGTH];
  private byte[][] texts = new byte[FIRST_LENGTH][];
  private boolean exact = true;

  /** A value as UTF-8 and its count. */
  public record Counted(byte[] text, long count) {}

  /** @param limit most distinct values */
  public ValueCounts(int limit) {
    this.limit = limit;
    places.defaultReturnValue(-1);
  }

  /** Adds a value {@code utf8[from..to)}, distinguished by its key. */
  public void add(byte[] utf8, int from, int to, long key) {
    if (!exact) {
      return;
    }
    int place = places.putIfAbsent(key, places.size());
    if (place >= 0) {
      counts[place]++;
    } else {
      put(key, 1, Arrays.copyOfRange(utf8, from, to));
      checkLimit();
    }
  }

  /** Puts the values of a key that has just got its place. */
  private void put(long key, long count, byte[] text) {
    int place = places.size() - 1;
    if (place == keys.length) {
      keys = Arrays.copyOf(keys, 2 * place);
      counts = Arrays.copyOf(counts, 2 * place);
      texts = Arrays.copyOf(texts, 2 * place);
    }
    keys[place] = key;
    counts[place] = count;
    texts[place] = text;
  }

  /** Adds the counts of another one. */
  public void merge(ValueCounts other) {
    exact &= other.exact;
    for (int i = 0; exact && i < other.places.size(); i++) {
      int place = places.putIfAbsent(other.keys[i], places.size());
      if (place >= 0) {
        counts[place] += other.counts[i];
      } else {
        put(other.keys[i], other.counts[i], other.texts[i]);
      }
    }
    checkLimit();
  }

  private void checkLimit() {
    if (!exact || places.size() > limit) {
      exact = false;
      places.clear();
      places.trim();
      keys = new long[0];
      counts = new long[0];
      texts = new byte[0][];
    }
  }

  /** Returns false if there were more distinct values than the limit. */
  public boolean isExact() {
    return exact;
  }

  /** Returns the number of distinct values; 0 if it is not exact. */
  public int distinct() {
    return places.size();
  }

  /** Returns the values with at least this count, most frequent first, then by their bytes. */
  public List<Counted> atLeast(long count) {
    List<Counted> values = new ArrayList<>();
    for (int i = 0; i < places.size(); i++) {
      if (counts[i] >= count) {
        values.add(new Counted(texts[i], counts[i]));
      }
    }
    values.sort((a, b) -> a.count() != b.count() ? Long.compare(b.count(), a.count()) : Arrays.compareUnsigned(a.text(), b.text()));
    return values;
  }
}
