package io.regatta.core.data;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * A set of positions, as ascending runs without gaps inside. Immutable. The members of a set are numbered from 0 in
 * ascending order.
 */
public final class Spans {

  /** The empty set. */
  public static final Spans NONE = new Spans(new long[0]);

  /** First position of each run, and the position after its last. Runs do not touch. */
  private final long[] bounds;

  private Spans(long[] bounds) {
    this.bounds = bounds;
  }

  /** Returns the positions {@code [from .. to)}. */
  public static Spans of(long from, long to) {
    return from >= to ? NONE : new Spans(new long[] {from, to});
  }

  /** Returns the set with these {@link #bounds}. */
  public static Spans ofBounds(long[] bounds) {
    List<Spans> runs = new ArrayList<>();
    for (int i = 0; i < bounds.length; i += 2) {
      runs.add(of(bounds[i], bounds[i + 1]));
    }
    return union(runs);
  }

  /**
   * Returns the union of sets.
   *
   * @throws IllegalStateException if two of them have a position in common
   */
  public static Spans union(List<Spans> parts) {
    List<long[]> runs = new ArrayList<>();
    for (Spans part : parts) {
      for (int i = 0; i < part.bounds.length; i += 2) {
        runs.add(new long[] {part.bounds[i], part.bounds[i + 1]});
      }
    }
    runs.sort(Comparator.comparingLong(run -> run[0]));
    long[] bounds = new long[2 * runs.size()];
    int n = 0;
    for (long[] run : runs) {
      if (n > 0 && run[0] < bounds[n - 1]) {
        throw new IllegalStateException("position " + run[0] + " is in two sets that have none in common");
      }
      if (n > 0 && run[0] == bounds[n - 1]) {
        bounds[n - 1] = run[1];
      } else {
        bounds[n++] = run[0];
        bounds[n++] = run[1];
      }
    }
    return new Spans(Arrays.copyOf(bounds, n));
  }

  /** Returns the number of positions. */
  public long size() {
    long size = 0;
    for (int i = 0; i < bounds.length; i += 2) {
      size += bounds[i + 1] - bounds[i];
    }
    return size;
  }

  public boolean isEmpty() {
    return bounds.length == 0;
  }

  /** Returns the subset of the members with numbers {@code [from .. to)}. */
  public Spans sub(long from, long to) {
    long[] some = new long[bounds.length];
    int n = 0;
    long before = 0;
    for (int i = 0; i < bounds.length && before < to; i += 2) {
      long length = bounds[i + 1] - bounds[i];
      long first = Math.max(0, from - before);
      long end = Math.min(length, to - before);
      if (first < end) {
        some[n++] = bounds[i] + first;
        some[n++] = bounds[i] + end;
      }
      before += length;
    }
    return n == 0 ? NONE : new Spans(Arrays.copyOf(some, n));
  }

  /** Returns the number of runs. */
  public int runs() {
    return bounds.length / 2;
  }

  /** Returns the first position of a run. */
  public long from(int run) {
    return bounds[2 * run];
  }

  /** Returns the position after the last one of a run. */
  public long to(int run) {
    return bounds[2 * run + 1];
  }

  /** Returns for each run its first position, and the position after its last. */
  public long[] bounds() {
    return bounds.clone();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Spans spans && Arrays.equals(bounds, spans.bounds);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bounds);
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder("[");
    for (int run = 0; run < runs(); run++) {
      text.append(run == 0 ? "" : ", ").append(from(run)).append(" .. ").append(to(run));
    }
    return text.append(")").toString();
  }
}
