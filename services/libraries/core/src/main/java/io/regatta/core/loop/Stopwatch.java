package io.regatta.core.loop;

import java.util.Locale;

/** Time that has passed since a moment. Immutable; any thread. */
public final class Stopwatch {
  private static final long NANOS_PER_MILLI = 1_000_000;
  private static final double SECONDS_PER_NANO = 1e-9;

  private final Clock clock;
  private final long beginNanos;

  private Stopwatch(Clock clock) {
    this.clock = clock;
    beginNanos = clock.nanos();
  }

  /** Returns a stopwatch that runs from now on. */
  public static Stopwatch start(Clock clock) {
    return new Stopwatch(clock);
  }

  /** Returns the nanoseconds since the start. */
  public long nanos() {
    return clock.nanos() - beginNanos;
  }

  /** Returns the whole milliseconds since the start. */
  public long millis() {
    return nanos() / NANOS_PER_MILLI;
  }

  /** Returns the seconds since the start. */
  public double seconds() {
    return nanos() * SECONDS_PER_NANO;
  }

  /** Returns the seconds since the start with one decimal, for messages: {@code 3.2 s}. */
  @Override
  public String toString() {
    return String.format(Locale.ROOT, "%.1f s", seconds());
  }
}
