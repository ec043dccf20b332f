package io.regatta.core.table;

import io.regatta.core.hash.Mix64;

/**
 * The removal of rows of a tracked table: decides which rows to remove, and removes them. Owned by its {@link
 * SparseTable}.
 */
final class RowRemoval {

  /** Rows that an eviction compares, and how often it looks for them. */
  private static final int SAMPLES = 5;
  private static final int DRAWS = 64;
  /** Places of removed rows that a draw steps over. */
  private static final int STEPS = 64;

  private final RowLife life;
  private long draws;

  RowRemoval(RowLife life) {
    this.life = life;
  }

  /** See {@link SparseTable#shrink}. */
  int shrink(SparseSegment[] segments, int segment, int from, int to, int mark, boolean endOfDay, RowWatch watch) {
    SparseSegment s = segments[segment];
    life.tick();
    int removed = 0;
    for (int row = from; row < to; row++) {
      float[] slab = s.slab(row);
      int off = s.offset(row);
      if (!s.holds(row) || life.bornSince(slab, off, mark)) {
        continue;
      }
      if (watch != null) {
        watch.changes(segment, row);
      }
      RowLife.Fate fate = life.age(slab, off, endOfDay);
      if (fate != RowLife.Fate.STAYS) {
        if (watch != null) {
          watch.goes(segment, row, s.id(row));
        }
        s.remove(row);
        life.went(fate);
        removed++;
      }
    }
    return removed;
  }

  /**
   * Removes one row of a few drawn at random: the one whose last training pull is the longest ago. Among equals it is
   * the row of the lowest score. This is least recently used by sampling, as Redis approximates it.
   *
   * @return whether it has found one, which is likely unless nearly all rows have been removed
   */
  boolean evict(SparseSegment[] segments, RowWatch watch) {
    SparseSegment of = null;
    int segment = 0;
    int worst = SparseSegment.NONE;
    int seen = 0;
    float score = 0;
    for (int draw = 0, samples = 0; draw < DRAWS && samples < SAMPLES; draw++) {
      long word = Mix64.mix(++draws);
      SparseSegment s = segments[(int) (word >>> 32) & segments.length - 1];
      int row = (int) ((word & 0xffff_ffffL) * s.size() >>> Integer.SIZE);
      int steps = Math.min(STEPS, s.size());
      while (steps > 0 && !s.holds(row)) {
        row = row + 1 < s.size() ? row + 1 : 0; // round the segment: otherwise those in front would be left over
        steps--;
      }
      if (steps == 0) {
        continue;
      }
      samples++;
      float[] slab = s.slab(row);
      int off = s.offset(row);
      int older = Integer.compareUnsigned(life.seen(slab, off), seen);
      if (of == null || older < 0 || older == 0 && life.score(slab, off) < score) {
        of = s;
        segment = (int) (word >>> 32) & segments.length - 1;
        worst = row;
        seen = life.seen(slab, off);
        score = life.score(slab, off);
      }
    }
    if (of != null) {
      if (watch != null) {
        watch.goes(segment, worst, of.id(worst));
      }
      of.remove(worst);
      life.evicted++;
    }
    return of != null;
  }
}
