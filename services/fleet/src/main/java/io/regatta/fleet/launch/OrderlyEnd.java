package io.regatta.fleet.launch;

import io.regatta.core.loop.Clock;
import io.regatta.core.loop.Deadline;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** How a launcher ends processes of a job. Owned by its thread. */
final class OrderlyEnd {

  /** What a process may take to end in order when it is asked to; it promises to do so within four seconds. */
  private static final long GRACE_MILLIS = 8000;
  /** The same of a trainer, which may have a model to save ({@code stop_grace_seconds}). */
  private static final long SAVE_GRACE_MILLIS = 30_000;
  /** Signals after which nobody is waited for. */
  private static final int IMPATIENT = 2;

  private final Clock clock;
  private final BlockingQueue<?> events;
  private final AtomicInteger signals;
  private final Consumer<String> say;

  /**
   * @param events get one when a process has ended, or a signal has come
   * @param signals that have come to the launcher
   */
  OrderlyEnd(Clock clock, BlockingQueue<?> events, AtomicInteger signals, Consumer<String> say) {
    this.clock = clock;
    this.events = events;
    this.signals = signals;
    this.say = say;
  }

  /** Ends workers, then servers: each gets a signal to end in order, and after a while, or at a second signal to us, another. */
  void of(List<Launched> processes) {
    for (LaunchedRole role : List.of(LaunchedRole.WORKER, LaunchedRole.SERVER, LaunchedRole.MASTER)) {
      List<Launched> some = processes.stream().filter(process -> process.planned().role() == role).toList();
      some.forEach(role == LaunchedRole.MASTER ? Launched::signal : Launched::terminate); // a master would stay for other machines
      Deadline deadline = Deadline.inMillis(clock, role == LaunchedRole.WORKER ? SAVE_GRACE_MILLIS : GRACE_MILLIS);
      some.forEach(process -> await(process, deadline));
    }
  }

  /** Whether nobody is waited for any more: who had not ended by then has been killed. */
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
