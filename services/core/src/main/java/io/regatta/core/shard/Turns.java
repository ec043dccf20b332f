package io.regatta.core.shard;

import io.regatta.core.exchange.Wait;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.LongUnaryOperator;

/**
 * What one job on one shard does over turns of the shard's loop, and how much of it fits one: every request has a turn of
 * its own, which goes to that request first; what is left over goes on in later turns, first come, first served, and whoever
 * has had a whole turn steps behind the others. Everybody else is served between these turns. Owned by the shard's thread.
 */
final class Turns {

  /**
   * What one turn may cost, in floats that are read or written in the order in which they lie: a quarter of a millisecond to
   * one half, so that what a busy machine and a cold cache make of it stays below five. What lies anywhere in memory counts as as many
   * floats as take its time.
   */
  static final int FLOATS = 1 << 19;
  /** Of a row, beside its floats: that it is somewhere in memory, 200 to 300 ns in a table of 10 million rows. */
  static final int ROW_FLOATS = 400;
  /** Rows that are worked off without a look at what is left of the turn. */
  static final int ROWS = 256;

  private final Executor later;
  private final Runnable settle;
  private final Completions completions;
  private final ArrayDeque<Work> open = new ArrayDeque<>();
  /** What this turn may still cost. */
  private long left;
  private boolean due;

  /**
   * None open.
   *
   * @param later runs a task in a later turn; null to do everything in one
   * @param settle what a change may release
   */
  Turns(Executor later, Runnable settle, Completions completions) {
    this.later = later;
    this.settle = settle;
    this.completions = completions;
  }

  /** What {@code n} rows cost that are read or written in a table; a little also if there are none. */
  static long rowsCost(int n, int dim) {
    return 1 + n * (ROW_FLOATS + (long) dim);
  }

  /** A request has come, or a later turn. */
  void begin() {
    left = whole();
  }

  private long whole() {
    return later == null ? Long.MAX_VALUE : FLOATS;
  }

  /** Does as much of the work as this turn has room for, and the rest later. */
  void start(Work work) {
    if (!run(work)) {
      open.addLast(work);
      goOnLater();
    }
  }

  /** Does as much of the work as this turn has room for; returns whether that was all of it. */
  boolean run(Work work) {
    if (left <= 0 || spend(work::advance) < 0) {
      return false;
    }
    work.over();
    return true;
  }

  /** Lets somebody use what this turn has left; he says as {@link Work#advance} how much of it he did not need. */
  long spend(LongUnaryOperator work) {
    long rest = work.applyAsLong(left);
    left = Math.max(0, rest);
    return rest;
  }

  /** Goes on with it in later turns, if it is not among what does already. */
  void keep(Work work) {
    if (!open.contains(work)) {
      open.addLast(work);
    }
    goOnLater();
  }

  /** Takes it back. */
  void drop(Work work) {
    open.remove(work);
  }

  void clear() {
    open.clear();
  }

  /** What is open of one kind, in the order of its turns. */
  <T extends Work> List<T> open(Class<T> kind) {
    return open.stream().filter(kind::isInstance).map(kind::cast).toList();
  }

  boolean any(Class<? extends Work> kind) {
    for (Work w : open) {
      if (kind.isInstance(w)) {
        return true;
      }
    }
    return false;
  }

  void waits(List<Wait> out) {
    open.forEach(w -> w.waits(out));
  }

  /** Does all that is open, and what that releases, in this turn. */
  void finish() {
    while (!open.isEmpty()) {
      left = Long.MAX_VALUE;
      goOn();
      settle.run();
    }
  }

  /** Has what waits looked at in a later turn. Any thread. */
  void wake() {
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
      Work work = open.poll();
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

  /** Work answers for what it throws itself; should anything else be thrown, the other work goes on all the same. */
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
