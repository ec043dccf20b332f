package io.regatta.collective;

import io.netty.channel.EventLoop;
import io.netty.channel.SingleThreadEventLoop;
import io.regatta.core.loop.Clock;
import java.util.function.BooleanSupplier;

/**
 * Busy polling of a rank's loop while the next message of a short call is expected within microseconds. Instead of
 * sleeping, the loop looks for input and tasks repeatedly. Waking a sleeping thread takes longer than such a message,
 * at both ends: one end sleeps, the other calls the operating system to wake it. A spell of polling ends when nothing
 * has happened for a while, so that a rank that waits for a slower one sleeps. After spells in vain, ever more waits go
 * without one: other threads may need this core, above all the peer that is waited for. Owned by the loop.
 *
 * <p>A task runs after the other work of each loop iteration and submits itself for the next iteration: a loop with a
 * task left does not sleep. Input, timers and other tasks run as usual.
 */
final class BusyPoll {
  /** Polling is tried at least once in this number of waits, so that a change for the better is noticed. */
  private static final int MAX_SKIPPED = 4096;

  /** Null: loops are of another kind, or the spell is 0; never polls. */
  private final SingleThreadEventLoop loop;
  private final long spellNanos;
  private final BooleanSupplier worth;
  private final Clock clock;
  private final Runnable turnBegins = this::turnBegins;
  private final Runnable turnEnds = this::turnEnds;
  private boolean polling;
  private long until;
  /** Waits that go without a spell: still, and after the next spell in vain. */
  private int skipping;
  private int skipNext = 1;
  private long turns;
  /** True if there has been an iteration without progress since the last one with some. */
  private boolean waited;

  /**
   * Creates the polling of one loop.
   *
   * @param spellNanos how long after the last {@link #progress} it polls; 0: never
   * @param worth asked on the loop, in each iteration: whether polling is worthwhile for the expected message
   */
  BusyPoll(EventLoop loop, long spellNanos, BooleanSupplier worth, Clock clock) {
    this.loop = spellNanos > 0 && loop instanceof SingleThreadEventLoop single ? single : null;
    this.spellNanos = spellNanos;
    this.worth = worth;
    this.clock = clock;
  }

  /** Notes progress: begins or prolongs a spell if more is expected. */
  void progress() {
    if (loop == null || !worth.getAsBoolean()) {
      return;
    }
    long now = clock.nanos();
    if (!polling) {
      if (skipping > 0) {
        skipping--;
        return;
      }
      polling = true;
      loop.executeAfterEventLoopIteration(turnEnds);
    } else if (now - until >= 0) { // this thread has had to wait for its core
      inVain();
    } else if (waited) {
      skipNext = Math.max(1, skipNext / 2);
    }
    waited = false;
    until = now + spellNanos;
  }

  private void inVain() {
    skipping = skipNext;
    skipNext = Math.min(MAX_SKIPPED, 4 * skipNext);
  }

  private void turnBegins() {
    turns++;
    waited = true;
    loop.executeAfterEventLoopIteration(turnEnds);
  }

  /**
   * Submits the next iteration's task, if the spell continues. Runs after the iteration: submitted earlier, the task
   * would run in the same iteration, without a look for input.
   */
  private void turnEnds() {
    boolean awaited = worth.getAsBoolean();
    polling = awaited && clock.nanos() - until < 0;
    if (polling) {
      loop.execute(turnBegins);
    } else if (awaited) {
      inVain();
    }
  }

  /** Returns how many iterations have begun without sleep. */
  long turns() {
    return turns;
  }
}
