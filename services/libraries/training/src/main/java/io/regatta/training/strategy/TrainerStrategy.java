package io.regatta.training.strategy;

import io.regatta.core.exchange.Mode;

/**
 * The trainer's side of a mode: which values it pushes and pulls, and after which steps. What {@link Mode} says of the
 * mode holds on both sides; this adds what concerns the trainer alone. Immutable.
 *
 * <p>Each mode has a record in a folder of its own. The record's components are the keys of the job file that are this
 * mode's. An exchange in {@code training.exchange} carries the strategy out.
 */
public interface TrainerStrategy {

  /** Returns the mode. */
  Mode mode();

  /** Returns the steps from one push to the next, at least 1; those between send nothing. */
  default int stepsPerPush() {
    return 1;
  }

  /** Returns the steps from one pull of the dense values to the next, at least 1. */
  default int stepsPerPull() {
    return 1;
  }

  /** Returns the steps that a trainer may be ahead of the slowest; 0 if the mode has no such bound. */
  default int stalenessBound() {
    return 0;
  }

  /** Returns true if a step computes while the push of the step before it is under way. */
  default boolean overlap() {
    return false;
  }
}
