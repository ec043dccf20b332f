package io.regatta.core.sketch;

import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Counts of distinct values, exact up to a limit of distinct values. Beyond it there are no counts, and the values are
 * dropped. One owner.
 */
public final class ValueCounts {

  private final int limit;
  private final Long2LongOpenHashMap counts = new Long2LongOpenHashMap();
  private final Long2ObjectOpenHashMap<byte[]> texts = new Long2ObjectOpenHashMap<>();
  private boolean exact = true;

  /** A value as UTF-8 and its count. */
  public record Counted(byte[] text, long count) {}

  /** @param limit most distinct values */
  public ValueCounts(int limit) {
    this.limit = limit;
  }

  /** Adds a value {@code utf8[from..to)}, distinguished by its key. */
  public void add(byte[] utf8, int from, int to, long key) {
    if (exact && counts.addTo(key, 1) == 0) {
      texts.put(key, Arrays.copyOfRange(utf8, from, to));
      checkLimit();
    }
  }

  /** Adds the counts of another one. */
  public void merge(ValueCounts other) {
    exact &= other.exact;
    if (exact) {
      other.counts.long2LongEntrySet().fastForEach(entry -> {
        if (counts.addTo(entry.getLongKey(), entry.getLongValue()) == 0) {
          texts.put(entry.getLongKey(), other.texts.get(entry.getLongKey()));
        }
      });
    }
    checkLimit();
  }

  private void checkLimit() {
    if (!exact || counts.size() > limit) {
      exact = false;
      counts.clear();
      counts.trim();
      texts.clear();
      texts.trim();
    }
  }

  /** Returns false if there were more distinct values than the limit. */
  public boolean isExact() {
    return exact;
  }

  /** Returns the number of distinct values; 0 if it is not exact. */
  public int distinct() {
    return counts.size();
  }

  /** Returns the values with at least this count, most frequent first, then by their bytes. */
  public List<Counted> atLeast(long count) {
    List<Counted> values = new ArrayList<>();
    counts.long2LongEntrySet().fastForEach(entry -> {
      if (entry.getLongValue() >= count) {
        values.add(new Counted(texts.get(entry.getLongKey()), entry.getLongValue()));
      }
    });
    values.sort((a, b) -> a.count() != b.count() ? Long.compare(b.count(), a.count()) : Arrays.compareUnsigned(a.text(), b.text()));
    return values;
  }
}
