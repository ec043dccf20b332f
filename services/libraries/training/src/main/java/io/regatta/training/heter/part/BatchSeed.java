package io.regatta.training.heter.part;

import io.regatta.training.model.Engines;

/**
 * Seeds of the engine's random numbers, from the job's seed, a replica and its step. A part of a network so draws the
 * same numbers wherever it is computed, and in a run that resumes. Stateless; used on a model thread.
 */
final class BatchSeed {

  /** The part of a forward pass that draws. */
  enum PassPhase {
    /** Layers before the cut. */
    BEFORE,
    /** The part, or a whole network without a cut in it. */
    PART,
    /** The program after the part. */
    AFTER
  }

  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  private BatchSeed() {}

  /** Returns the seed of a batch of a replica, whose number counts over all ranks. */
  static int of(long seed, int globalReplica, long step, PassPhase phase) {
    long mixed = mix(mix(mix(seed) + globalReplica) + step) + phase.ordinal();
    return (int) (mix(mixed) >>> 33); // not negative
  }

  /**
   * Sets the generator of the calling model thread.
   *
   * @param replicas of a rank
   */
  static void set(long seed, int rank, int replicas, int replica, long step, PassPhase phase) {
    Engines.seed(of(seed, rank * replicas + replica, step, phase));
  }

  /** The mixer of SplitMix64 (Steele, Lea and Flood, 2014). */
  private static long mix(long value) {
    long z = value + GOLDEN;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
