package io.regatta.core.shard.internal.parameters;

import io.regatta.core.hash.Mix64;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;

/**
 * A set of ids. Owned by the shard's thread. One for many ids consists of 256 sets, each of them small enough to grow
 * within a time slice of the shard. They have different load factors, so that they do not all grow at the same time.
 * One for few ids is a single set.
 */
public final class IdSet {

  private static final int PARTS = 256;
  private static final int PART_SHIFT = Long.SIZE - 8;

  private final LongOpenHashSet[] parts;

  private IdSet(int parts) {
    this.parts = new LongOpenHashSet[parts];
  }

  /** Returns an empty set for few ids; clearing it takes time proportional to the largest size it ever had. */
  public static IdSet forFew() {
    return new IdSet(1);
  }

  /** Empty, for any number of ids. */
  public static IdSet forMany() {
    return new IdSet(PARTS);
  }

  /** Adds an id; returns true if it is new. */
  public boolean add(long id) {
    int part = (int) (Mix64.mix(id) >>> PART_SHIFT) & parts.length - 1;
    if (parts[part] == null) {
      parts[part] = new LongOpenHashSet(LongOpenHashSet.DEFAULT_INITIAL_SIZE, 0.75f - 0.25f * part / PARTS);
    }
    return parts[part].add(id);
  }

  /** Empties it, and keeps its memory. */
  public void clear() {
    for (LongOpenHashSet part : parts) {
      if (part != null) {
        part.clear();
      }
    }
  }
}
