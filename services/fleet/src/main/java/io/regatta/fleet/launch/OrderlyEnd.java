package io.regatta.fleet.launch;

import io.regatta.core.loop.Clock;
import io.regatta.core.loop.Deadline;
import io.regatta.fleet.role.LaunchedRole;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** The way in which a launcher ends processes of a job. Owned by its thread. */
final class OrderlyEnd {

  /** Time in which a process must end in order when it is asked to; it promises to do so within four seconds. */
  private static final long GRACE_MILLIS = 8000;
  /** Time in which a trainer must end, which may have a model to save ({@code stop_grace_seconds}). */
  private static final long SAVE_GRACE_MILLIS = 30_000;
  /** Number of signals after which no process is waited for. */
  private static final int IMPATIENT = 2;

  private final Clock clock;
  private final BlockingQueue<?> events;
  private final AtomicInteger signals;
  private final Consumer<String> say;

  /**
   * Creates the end of processes.
   *
   * @param events get one when a process has ended, or a signal has arrived
   * @param signals number of signals that the launcher has received
   */
  OrderlyEnd(Clock clock, BlockingQueue<?> events, AtomicInteger signals, Consumer<String> say) {
    this.clock = clock;
    this.events = events;
    this.signals = signals;
    this.say = say;
  }

  /**
   * Ends processes in the order of their roles' end. Each gets a signal to end in order. One that has not ended after
   * its time, or at a second signal to the launcher, is killed.
   */
  void of(List<Launched> processes) {
    for (LaunchedRole role : LaunchedRole.inOrderOfEnd()) {
      List<Launched> some = processes.stream().filter(process -> process.planned().role() == role).toList();
      some.forEach(role == LaunchedRole.MASTER ? Launched::signal : Launched::terminate); // a master would stay for other machines
      Deadline deadline = Deadline.inMillis(clock, role == LaunchedRole.WORKER ? SAVE_GRACE_MILLIS : GRACE_MILLIS);
      some.forEach(process -> await(process, deadline));
    }
  }

  /** Returns true if no process is waited for any more: those that had not ended by then have been killed. */
  boolean isImpatient() {
    return signals.get() >= IMPATIENT;
  }

  private void await(Launched process, Deadline deadline) {
    while (process.process().isAlive() && !isImpatient() && !deadline.isPast()) {
      try {
        Object event = events.poll(deadline.leftNanos(), TimeUnit.NANOSECONDS);
        if (event == null) {
          break;
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        break;
      }
    }
    if (process.process().isAlive()) {
      say.accept("regatta: " + process.name() + " does not end, and is killed");
      process.kill();
    }
    process.awaitLog();
  }
}
