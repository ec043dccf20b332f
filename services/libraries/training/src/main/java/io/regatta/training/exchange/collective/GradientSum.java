package io.regatta.training.exchange.collective;

import io.regatta.core.collective.TensorMemory;
import io.regatta.core.dense.DenseMemory;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * A method to sum a bucket of gradients over the ranks, each times its rank's weight, or an approximation of the sum;
 * all ranks get the same bits. Belongs to a model thread; one step at a time.
 */
interface GradientSum {

  /** Sets the parameters' memory, which in each step holds the parameters to which the gradients belong. */
  default void starts(DenseMemory parameters) {}

  /** Returns memory for the gradients of a step, of the fastest kind, zeroed. Blocks. */
  default TensorMemory memory(int bytes) {
    return TensorMemory.direct(bytes);
  }

  /**
   * Returns true if floats after the gradients can be summed with a bucket, unchanged; otherwise they need a call of
   * their own.
   */
  boolean carriesHeader();

  /**
   * Begins a step.
   *
   * @param gradients memory of the flat vector
   * @param weight of this rank, 0 if it takes part without gradients
   */
  void begins(TensorMemory gradients, long step, double weight);

  /**
   * Sends the elements {@code [from .. to)}, already times the weight. They are borrowed until the future completes,
   * with true if the sum is known to be finite.
   */
  CompletableFuture<Boolean> send(int from, int to);

  /** Finishes a bucket after that future has completed: the elements are the sum when this returns. */
  void receive(int from, int to);

  /**
   * Returns the gradient state that this rank keeps from step to step, by name, with the same names on all ranks. Live,
   * between two steps.
   */
  default Map<String, float[]> kept() {
    return Map.of();
  }

  /** Notes that all of a step has been received. */
  default void stepped() {}
}
