package io.regatta.heterworker;

import io.regatta.core.loop.Clock;
import io.regatta.training.heter.queue.QueueCounts;
import java.util.Locale;
import java.util.Optional;

/** The line about a heter worker's progress since the last one. Owned by the verticle's event loop. */
final class ProgressLine {

  private static final double NANOS_PER_SECOND = 1e9;

  private final Clock clock;
  private final QueueCounts counts;
  private long nanos;
  private long examples;
  private double busySeconds;

  ProgressLine(Clock clock, QueueCounts counts) {
    this.clock = clock;
    this.counts = counts;
    nanos = clock.nanos();
  }

  /**
   * Returns the next line; empty if nothing has been computed since the last one.
   *
   * @param waiting batches that wait now
   */
  Optional<String> next(int waiting) {
    long now = clock.nanos();
    double seconds = (now - nanos) / NANOS_PER_SECOND;
    long computed = counts.examples() - examples;
    double busy = counts.busySeconds() - busySeconds;
    nanos = now;
    examples += computed;
    busySeconds += busy;
    return computed == 0 || seconds <= 0 ? Optional.empty() : Optional.of(String.format(Locale.ROOT,
        "%.0f examples/s, busy %.0f %% of the time, %d %s", computed / seconds, Math.min(100, 100 * busy / seconds), waiting,
        waiting == 1 ? "batch waits" : "batches wait"));
  }
}
