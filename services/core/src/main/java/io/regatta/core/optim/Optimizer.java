package io.regatta.core.optim;

/**
 * One optimizer: a record of its hyperparameters, with its slots and its arithmetic on plain float arrays. {@link
 * Optimizers} lists all. The first component is a {@link Regularization}; the others carry {@link Hyperparameter}.
 *
 * <p>Stateless, any thread; the caller owns the arrays. All state is in the slots, so that it can be saved, moved and
 * compared. Nothing is allocated, and the result depends on the arguments only.
 */
public sealed interface Optimizer permits ElementwiseOptimizer {

  /** Returns clipping by value and weight decay. */
  Regularization regularization();

  /** Returns the number of float slots per weight (SGD 0, momentum and Adagrad 1, Adam and FTRL 2). */
  int slots();

  /** Returns the value that slot {@code k} starts with. */
  default float initialSlot(int k) {
    return 0;
  }

  /**
   * Returns true if the last bit of a gradient can change an update by as much as the learning rate, because the rule
   * divides by a root that may be near 0. Comparisons of two runs then allow for more.
   */
  default boolean magnifiesRounding() {
    return false;
  }
}
