package io.regatta.training.replica;

import io.regatta.core.loop.Clock;
import io.regatta.training.trace.StepTrace;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Where a replica's model thread spent its time: in nanoseconds, added up over steps, and as spans of the rank's timeline
 * where the job wants one. Belongs to that thread.
 */
public final class StepTimes {

  /** Parts of a step. */
  public enum Part {
    /** Waiting for the reader, and making arrays of what it gives. */
    READ,
    /** Waiting for values of the servers. */
    PULL,
    /** Forward pass, pulls inside it excluded. */
    FORWARD,
    /** Backward pass. */
    BACKWARD,
    /** Reading gradients (the engine may still be computing them) and handing them over. */
    PUSH
  }

  private final long[] nanos = new long[Part.values().length];
  private final Clock clock;
  private final StepTrace trace;
  private final int replica;
  private long step;
  /** When the first step began, the last one to begin, and the last one to end; 0: there is none. */
  private long firstBegan;
  private long began;
  private long ended;

  public StepTimes(StepTrace trace, int replica) {
    this.trace = trace;
    clock = trace.clock();
    this.replica = replica;
  }

  /** The replica begins its step of this number, from 0. */
  public void begins(long number) {
    step = number;
    began = clock.nanos();
    firstBegan = firstBegan == 0 ? began : firstBegan;
    if (replica == 0) {
      trace.begins(number);
    }
  }

  /** The step has been made. */
  public void ends() {
    span("step", began);
    ended = clock.nanos();
  }

  /** Wall clock from the first step's begin to the last one's end, s; 0 before. */
  public double seconds() {
    return ended == 0 ? 0 : (ended - firstBegan) / 1e9;
  }

  /** Returns the clock by which parts and spans are measured. */
  public Clock clock() {
    return clock;
  }

  /** Whether spans are kept now, so that it is worth finding out more about them. */
  public boolean traced() {
    return trace.on();
  }

  /** Something that ends now, for the timeline. */
  public void span(String name, long beginNanos) {
    span(name, beginNanos, Map.of());
  }

  /** The same with details, by name. */
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

  /** The time outside of {@link Part#READ} and {@link Part#PULL}, which lie within other parts: for {@link #addSince}, ns. */
  public long outsideOfWaits() {
    return clock.nanos() - nanos(Part.READ) - nanos(Part.PULL);
  }

  /** Adds to a part the time since then, without what has been read and pulled meanwhile. */
  public void addSince(Part part, long outsideOfWaits) {
    add(part, outsideOfWaits() - outsideOfWaits);
  }

  /** Time so far, ns. */
  public long nanos(Part part) {
    return nanos[part.ordinal()];
  }

  /** All parts, to take differences of. */
  public long[] snapshot() {
    return nanos.clone();
  }
}
