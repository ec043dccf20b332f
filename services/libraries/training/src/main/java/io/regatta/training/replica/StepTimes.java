package io.regatta.training.replica;

import io.regatta.core.loop.Clock;
import io.regatta.training.trace.StepTrace;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The times of a replica's model thread: in nanoseconds, added up over steps, and as spans of the rank's timeline if
 * the job requests one. Belongs to that thread.
 */
public final class StepTimes {

  /** Parts of a step. */
  public enum Part {
    /** Waiting for the reader, and making arrays of its batches. */
    READ,
    /** Waiting for values from the servers. */
    PULL,
    /** Forward pass, without the pulls inside it. */
    FORWARD,
    /** Backward pass. */
    BACKWARD,
    /** Reading gradients (the engine may still be computing them) and sending them. */
    PUSH
  }

  private final long[] nanos = new long[Part.values().length];
  private final Clock clock;
  private final StepTrace trace;
  private final int replica;
  private long step;
  /** Times when the first step began, when the last one began, and when the last one ended; 0: none. */
  private long firstBegan;
  private long began;
  private long ended;

  public StepTimes(StepTrace trace, int replica) {
    this.trace = trace;
    clock = trace.clock();
    this.replica = replica;
  }

  /** Begins the step of this number, from 0. */
  public void begins(long number) {
    step = number;
    began = clock.nanos();
    firstBegan = firstBegan == 0 ? began : firstBegan;
    if (replica == 0) {
      trace.begins(number);
    }
  }

  /** Ends the step. */
  public void ends() {
    span("step", began);
    ended = clock.nanos();
  }

  /** Returns the wall clock from the first step's begin to the last one's end, s; 0 before. */
  public double seconds() {
    return ended == 0 ? 0 : (ended - firstBegan) / 1e9;
  }

  /** Returns the clock by which parts and spans are measured. */
  public Clock clock() {
    return clock;
  }

  /** Returns true if spans are recorded now, so that collecting details is worthwhile. */
  public boolean traced() {
    return trace.on();
  }

  /** Records a span that ends now, for the timeline. */
  public void span(String name, long beginNanos) {
    span(name, beginNanos, Map.of());
  }

  /** Records a span that ends now, with details by name. */
  public void span(String name, long beginNanos, Map<String, Object> details) {
    if (trace.on()) {
      Map<String, Object> all = new LinkedHashMap<>(details);
      all.put("step", step);
      trace.span("replica " + replica, name, beginNanos, all);
    }
  }

  /** Adds time to a part. */
  public void add(Part part, long n) {
    nanos[part.ordinal()] += n;
  }

  /**
   * Returns the time outside of {@link Part#READ} and {@link Part#PULL}, which lie within other parts: for
   * {@link #addSince}, ns.
   */
  public long outsideOfWaits() {
    return clock.nanos() - nanos(Part.READ) - nanos(Part.PULL);
  }

  /** Adds to a part the time since then, without the time spent reading and pulling meanwhile. */
  public void addSince(Part part, long outsideOfWaits) {
    add(part, outsideOfWaits() - outsideOfWaits);
  }

  /** Returns the time of a part so far, ns. */
  public long nanos(Part part) {
    return nanos[part.ordinal()];
  }

  /** Returns the times of all parts, to compute differences. */
  public long[] snapshot() {
    return nanos.clone();
  }
}
