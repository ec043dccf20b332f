package io.regatta.protocol.vertx;

import io.regatta.core.loop.Clock;
import java.util.concurrent.locks.LockSupport;

/**
 * The clocks of the machine. Named where a process is assembled, and by components of the process as a whole;
 * everything else gets a {@link Clock}.
 */
public final class SystemClock implements Clock {
  private static final SystemClock CLOCK = new SystemClock();

  private SystemClock() {}

  /** Returns the clock of this process. */
  public static Clock get() {
    return CLOCK;
  }

  @Override
  public long nanos() {
    return System.nanoTime();
  }

  @Override
  public long epochMillis() {
    return System.currentTimeMillis();
  }

  @Override
  public void pause(long nanos) {
    LockSupport.parkNanos(nanos);
  }
}
