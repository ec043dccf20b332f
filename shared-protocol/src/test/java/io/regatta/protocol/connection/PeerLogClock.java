package io.regatta.protocol.connection;

import io.regatta.protocol.vertx.SystemClock;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Clock of this process's {@link PeerLog}s that tests set ahead: the next line of each kind is due then, and says how
 * many were left out before it. It never goes back, as the limiters require. Thread-safe.
 */
public final class PeerLogClock {
  private static final AtomicLong AHEAD = new AtomicLong();

  private PeerLogClock() {}

  /** Lets the time pass after which each kind of line may be logged again. */
  public static void pass() {
    AHEAD.addAndGet(PeerLog.PAUSE_NANOS);
    PeerLog.clock = () -> SystemClock.get().nanos() + AHEAD.get();
  }
}
