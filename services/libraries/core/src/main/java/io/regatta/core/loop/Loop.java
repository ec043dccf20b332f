package io.regatta.core.loop;

import java.util.concurrent.Executor;

/**
 * The thread of an owner: whatever it owns is touched by tasks of this loop only, one after the other. Every method may
 * be called from any thread. Timers and tasks of one loop run in the order of their time, those of the same time in the
 * order in which they were given.
 */
public interface Loop extends Executor {

  /** Returns the clock by which the timers of this loop run. */
  Clock clock();

  /** Returns true if the calling thread is the owner's. */
  boolean isCurrent();

  /**
   * Runs a task soon, never within this call.
   *
   * @throws java.util.concurrent.RejectedExecutionException if the loop has ended
   */
  @Override
  void execute(Runnable task);

  /**
   * Runs a task after everything that has arrived from the network until now. Work that takes many turns of the loop
   * continues this way, so that requests are served between its turns.
   */
  void defer(Runnable task);

  /**
   * Runs a task once.
   *
   * @param millis delay; at least one is waited
   */
  Timer after(long millis, Runnable task);

  /**
   * Runs a task again and again until the timer is cancelled.
   *
   * @param millis period, at least 1
   */
  Timer every(long millis, Runnable task);
}
