package io.regatta.training.snapshot;

import java.util.concurrent.atomic.AtomicLong;

/** What has become of the snapshots that a rank has taken, for its metrics. Written by the threads that take them; read by any. */
public final class SnapshotCounts {

  private final AtomicLong taken = new AtomicLong();
  private final AtomicLong failed = new AtomicLong();
  private final AtomicLong bytes = new AtomicLong();
  private final AtomicLong nanos = new AtomicLong();
  private volatile long step = -1;

  /** One is there, under its name. */
  void taken(long ofStep, long ofBytes, long inNanos) {
    taken.incrementAndGet();
    bytes.addAndGet(ofBytes);
    nanos.addAndGet(inNanos);
    step = ofStep;
  }

  void failed() {
    failed.incrementAndGet();
  }

  /** Snapshots that are there, or were. */
  public long taken() {
    return taken.get();
  }

  /** Snapshots that failed. */
  public long failures() {
    return failed.get();
  }

  /** Of all that were taken. */
  public long bytes() {
    return bytes.get();
  }

  /** From the asking for the moment to the name, of all that were taken, s. */
  public double seconds() {
    return nanos.get() * 1e-9;
  }

  /** The step of the last one that was taken, -1 before. */
  public long step() {
    return step;
  }
}
