package io.regatta.fleet.local;

import java.util.Map;

/**
 * The faults that are injected into a {@link LocalCluster}. Immutable.
 *
 * @param stepDelayMillis by rank: time added to every step of that trainer, spent on its model thread, ms
 */
public record Faults(Map<Integer, Long> stepDelayMillis) {

  public Faults {
    stepDelayMillis = Map.copyOf(stepDelayMillis);
  }

  public static Faults none() {
    return new Faults(Map.of());
  }

  /** Returns slow trainers: milliseconds per step by rank. */
  public static Faults slow(Map<Integer, Long> stepDelayMillis) {
    return new Faults(stepDelayMillis);
  }
}
