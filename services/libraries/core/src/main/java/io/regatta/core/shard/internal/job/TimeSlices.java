package io.regatta.core.shard.internal.job;

import io.regatta.core.exchange.Wait;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.LongUnaryOperator;

/**
 * The work of one job on one shard that takes several time slices of the shard's loop, and the work budget of each
 * slice. Every request has a time slice of its own, which serves that request first. Unfinished work continues in later
 * slices, first come, first served. Work that has used a whole slice steps back to the end of the queue. Other requests
 * are served between these slices. Owned by the shard's thread.
 */
public final class TimeSlices {

  /**
   * Work budget of one time slice, in floats that are read or written in the order in which they lie. It takes a
   * quarter to half a millisecond, so that a busy machine and a cold cache still keep it below five. A random access to
   * memory counts as the number of floats that take the same time.
   */
  public static final int FLOATS = 1 << 19;
  /** Cost of a row beside its floats: the access to it, 200 to 300 ns in a table of 10 million rows. */
  public static final int ROW_FLOATS = 400;
  /** Rows that are processed without a look at the budget that is left. */
  public static final int ROWS = 256;

  private final Executor later;
  private final Runnable settle;
  private final Completions completions;
  private final ArrayDeque<SlicedWork> open = new ArrayDeque<>();
  /** Budget that is left of this time slice. */
  private long left;
  private boolean due;

  /**
   * Creates an empty queue.
   *
   * @param later runs a task in a later time slice; null to do everything in one
   * @param settle completes what a change may release
   */
  TimeSlices(Executor later, Runnable settle, Completions completions) {
    this.later = later;
    this.settle = settle;
    this.completions = completions;
  }

  /** Returns the cost of reading or writing {@code n} rows of a table; more than 0 even for no rows. */
  public static long rowsCost(int n, int dim) {
    return 1 + n * (ROW_FLOATS + (long) dim);
  }

  /** Begins a time slice, for a request or for work left over. */
  public void begin() {
    left = whole();
  }

  private long whole() {
    return later == null ? Long.MAX_VALUE : FLOATS;
  }

  /** Does as much of the work as this time slice has budget for, and the rest later. */
  public void start(SlicedWork work) {
    if (!run(work)) {
      open.addLast(work);
      goOnLater();
    }
  }

  /** Does as much of the work as this time slice has budget for; returns true if that was all of it. */
  public boolean run(SlicedWork work) {
    if (left <= 0 || spend(work::advance) < 0) {
      return false;
    }
    work.over();
    return true;
  }

  /**
   * Lets a caller use the budget that is left; like {@link SlicedWork#advance}, it returns the part that it did not
   * need.
   */
  public long spend(LongUnaryOperator work) {
    long rest = work.applyAsLong(left);
    left = Math.max(0, rest);
    return rest;
  }

  /** Continues the work in later time slices, unless it is queued already. */
  public void keep(SlicedWork work) {
    if (!open.contains(work)) {
      open.addLast(work);
    }
    goOnLater();
  }

  /** Removes the work from the queue. */
  public void drop(SlicedWork work) {
    open.remove(work);
  }

  public void clear() {
    open.clear();
  }

  /** Returns the queued work of one kind, in the order of the queue. */
  public <T extends SlicedWork> List<T> open(Class<T> kind) {
    return open.stream().filter(kind::isInstance).map(kind::cast).toList();
  }

  public boolean any(Class<? extends SlicedWork> kind) {
    for (SlicedWork w : open) {
      if (kind.isInstance(w)) {
        return true;
      }
    }
    return false;
  }

  public void waits(List<Wait> out) {
    open.forEach(w -> w.waits(out));
  }

  /** Does all queued work, and what that releases, in this time slice. */
  public void finish() {
    while (!open.isEmpty()) {
      left = Long.MAX_VALUE;
      goOn();
      settle.run();
    }
  }

  /** Has everything that waits examined in a later time slice. Any thread. */
  public void wake() {
    if (later != null) {
      later.execute(() -> {
        begin();
        settle.run();
        completions.drain();
      });
    }
  }

  private void goOn() {
    while (left > 0 && !open.isEmpty()) {
      SlicedWork work = open.poll();
      boolean whole = left == whole();
      if (run(work)) {
        continue;
      }
      if (whole) {
        open.addLast(work);
      } else {
        open.addFirst(work);
      }
    }
  }

  private void goOnLater() {
    if (!due && !open.isEmpty()) {
      due = true;
      later.execute(this::laterTurn);
    }
  }

  /**
   * Runs one later time slice. Work handles its own failures; if anything else is thrown, the other work still
   * continues.
   */
  private void laterTurn() {
    begin();
    try {
      goOn();
      settle.run();
    } finally {
      due = false;
      goOnLater();
      completions.drain();
    }
  }
}
