package io.regatta.core.testing;

import io.regatta.core.loop.Clock;
import java.util.function.LongSupplier;

/** A clock that a test sets. As thread-safe as what it reads. */
public final class TestClock implements Clock {
  private static final long NANOS_PER_MILLI = 1_000_000;

  private final LongSupplier epochMillis;
  private final LongSupplier nanos;

  private TestClock(LongSupplier epochMillis, LongSupplier nanos) {
    this.epochMillis = epochMillis;
    this.nanos = nanos;
  }

  /** Returns a clock that stands still. */
  public static TestClock at(long millis) {
    return of(() -> millis);
  }

  /** Returns a clock whose two times go together. */
  public static TestClock of(LongSupplier millis) {
    return of(millis, millis);
  }

  /** Returns a clock whose date may jump. */
  public static TestClock of(LongSupplier epochMillis, LongSupplier monotonicMillis) {
    return new TestClock(epochMillis, () -> monotonicMillis.getAsLong() * NANOS_PER_MILLI);
  }

  /** Returns a clock whose date goes with its nanoseconds. */
  public static TestClock ofNanos(LongSupplier nanos) {
    return new TestClock(() -> nanos.getAsLong() / NANOS_PER_MILLI, nanos);
  }

  @Override
  public long nanos() {
    return nanos.getAsLong();
  }

  @Override
  public long epochMillis() {
    return epochMillis.getAsLong();
  }

  /** Returns at once: what the test sets passes in the meantime. */
  @Override
  public void pause(long pauseNanos) {}
}
