package io.regatta.trainer.djl;

/** Where a replica's model thread spent its time, in nanoseconds, added up over steps. Belongs to that thread. */
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

  /** Adds time to a part. */
  void add(Part part, long n) {
    nanos[part.ordinal()] += n;
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
