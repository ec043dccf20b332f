package io.regatta.core.loop;

import java.time.Duration;

/** A moment after which an operation is given up. Immutable; any thread. */
public final class Deadline {
  private static final long NANOS_PER_MILLI = 1_000_000;
  /** Half of what the difference of two readings can hold: 146 years. */
  private static final long NANOS_MAX = Long.MAX_VALUE / 2;

  private final Clock clock;
  private final long atNanos;

  private Deadline(Clock clock, long inNanos) {
    this.clock = clock;
    atNanos = clock.nanos() + inNanos;
  }

  /** Returns a deadline that long from now; a duration of more than 146 years counts as 146 years. */
  public static Deadline in(Clock clock, Duration duration) {
    boolean endless = duration.compareTo(Duration.ofNanos(NANOS_MAX)) > 0;
    return new Deadline(clock, endless ? NANOS_MAX : duration.toNanos());
  }

  /** Returns a deadline that many milliseconds from now. */
  public static Deadline inMillis(Clock clock, long millis) {
    return in(clock, Duration.ofMillis(millis));
  }

  /** Returns true once the deadline has passed. */
  public boolean isPast() {
    return leftNanos() <= 0;
  }

  /** Returns the nanoseconds that are left, negative after the deadline. */
  public long leftNanos() {
    return atNanos - clock.nanos();
  }

  /**
   * Returns the milliseconds that are left, rounded up, so that a timer of that length ends at the deadline or after
   * it; never negative.
   */
  public long leftMillis() {
    return Math.max(0, (leftNanos() + NANOS_PER_MILLI - 1) / NANOS_PER_MILLI);
  }
}
