package io.regatta.training.snapshot;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The counts of the snapshots that a rank has taken, for its metrics. Written by the threads that take them; read by
 * any.
 */
public final class SnapshotCounts {

  private final AtomicLong taken = new AtomicLong();
  private final AtomicLong failed = new AtomicLong();
  private final AtomicLong bytes = new AtomicLong();
  private final AtomicLong nanos = new AtomicLong();
  private volatile long step = -1;

  /** Counts a snapshot that is complete, under its name. */
  void taken(long ofStep, long ofBytes, long inNanos) {
    taken.incrementAndGet();
    bytes.addAndGet(ofBytes);
    nanos.addAndGet(inNanos);
    step = ofStep;
  }

  void failed() {
    failed.incrementAndGet();
  }

  /** Returns the snapshots that exist, or existed. */
  public long taken() {
    return taken.get();
  }

  /** Returns the snapshots that failed. */
  public long failures() {
    return failed.get();
  }

  /** Returns the bytes of all snapshots taken. */
  public long bytes() {
    return bytes.get();
  }

  /** Returns the seconds from the request to the final name, over all snapshots taken. */
  public double seconds() {
    return nanos.get() * 1e-9;
  }

  /** Returns the step of the last snapshot taken, -1 before. */
  public long step() {
    return step;
  }
}
