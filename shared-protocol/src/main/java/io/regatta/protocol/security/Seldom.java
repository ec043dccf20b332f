package io.regatta.protocol.security;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Keeps a line that strangers can cause from filling the log: one in ten seconds. Thread-safe. */
final class Seldom {
  private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final AtomicLong last = new AtomicLong(System.nanoTime() - PAUSE_NANOS);

  /** Whether it may be said now; if so, it counts as said. */
  boolean now() {
    long before = last.get();
    long now = System.nanoTime();
    return now - before >= PAUSE_NANOS && last.compareAndSet(before, now);
  }
}
