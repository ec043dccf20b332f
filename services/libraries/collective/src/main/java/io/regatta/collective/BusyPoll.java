package io.regatta.collective;

import io.netty.channel.EventLoop;
import io.netty.channel.SingleThreadEventLoop;
import io.regatta.core.loop.Clock;
import java.util.function.BooleanSupplier;

/**
 * Keeps a rank's loop awake while the next message of a short call is likely to come in some microseconds: in place of sleeping
 * until then, the loop looks for input and tasks again and again. To wake a thread that sleeps takes longer than such a message
 * needs, at both ends: the one sleeps, and the other calls the operating system to wake it. A spell of polling ends when
 * nothing has happened for a while, so that a rank that waits for a slower one sleeps. Spells in vain are followed by ever more
 * waits without one: where others want this core, above all the peer that is waited for, polling only keeps it from them.
 *
 * <p>It works by a task behind everything that a turn of the loop has to do, which leaves another one for the next turn: a loop
 * with a task left does not sleep. Input, timers and other tasks have their turns as ever. Owned by the loop.
 */
final class BusyPoll {
  /** A spell in so many waits, at least: it is seen when polling is worth it again. */
  private static final int MAX_SKIPPED = 4096;

  /** Null where loops are of another kind, or the spell is 0: never polls. */
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
  /** There has been a turn without progress since the last one with some. */
  private boolean waited;

  /**
   * For one loop.
   *
   * @param spellNanos how long after the last {@link #progress} it polls; 0: never
   * @param worth asked on the loop, in each turn: whether something is awaited that is worth it
   */
  BusyPoll(EventLoop loop, long spellNanos, BooleanSupplier worth, Clock clock) {
    this.loop = spellNanos > 0 && loop instanceof SingleThreadEventLoop single ? single : null;
    this.spellNanos = spellNanos;
    this.worth = worth;
    this.clock = clock;
  }

  /** Something has happened, and more is awaited. */
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

  /** Not at once again, for the loop would run that in the same turn, and look for no input. */
  private void turnEnds() {
    boolean awaited = worth.getAsBoolean();
    polling = awaited && clock.nanos() - until < 0;
    if (polling) {
      loop.execute(turnBegins);
    } else if (awaited) {
      inVain();
    }
  }

  /** How many turns have been begun without sleep. */
  long turns() {
    return turns;
  }
}
