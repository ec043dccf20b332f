package io.regatta.core.optim;

import java.util.List;

/**
 * One update rule with its hyperparameters: a record whose components each have a {@link Hyperparameter}. It is the only
 * definition of an optimizer. Keys of the configuration, the message on the wire, slots in snapshots and the reference
 * page are derived from it by {@link OptimizerType}; {@link OptimizerRegistry} lists all. Immutable, any thread: all
 * state is in slots that the caller owns, so that it can be saved, moved and compared. The result of an update depends
 * on its arguments only, and nothing is allocated for an element.
 */
public sealed interface Optimizer permits ElementwiseOptimizer, TensorwiseOptimizer {

  /**
   * An array of floats, one for each weight, that an optimizer keeps between updates.
   *
   * @param name as in the paper, for the reference page
   * @param initial value that each element starts with
   */
  record Slot(String name, float initial) {}

  /** Returns the slots in the order in which callers and snapshots keep them. */
  default List<Slot> slots() {
    return List.of();
  }

  /**
   * Returns true if a difference in the last bit of a gradient can change a weight by much, because the rule divides by
   * roots of small moments.
   */
  default boolean magnifiesRounding() {
    return false;
  }
}
