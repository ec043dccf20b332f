package io.regatta.core.loop;

/** Source of time for everything that measures, waits or dates. Thread-safe. */
public interface Clock {

  /**
   * Returns nanoseconds since an arbitrary origin. They never go back; two values are compared by their difference
   * only.
   */
  long nanos();

  /**
   * Returns milliseconds since the epoch, for dates that people read or other processes compare. They jump when
   * somebody sets the machine's clock; durations are measured with {@link #nanos}.
   */
  long epochMillis();

  /**
   * Keeps the calling thread for about that long; less if it is interrupted, which it stays. Not on a loop.
   *
   * @param nanos at least 0
   */
  void pause(long nanos);
}
