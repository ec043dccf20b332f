package io.regatta.trainer.exchange.collective;

import io.regatta.core.collective.TensorMemory;
import io.regatta.core.dense.DenseMemory;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * How a bucket of gradients becomes, at every rank, the sum of the ranks' gradients, each times its rank's weight, or
 * what stands for it: at all the same bits. Belongs to a model thread; one step at a time.
 */
interface GradientSum {

  /** The parameters' memory: in each step it holds those that the gradients are of. */
  default void starts(DenseMemory parameters) {}

  /** Memory for the gradients of a step, such as goes fastest; zeros. Blocks. */
  default TensorMemory memory(int bytes) {
    return TensorMemory.direct(bytes);
  }

  /**
   * Whether floats behind the gradients can be summed with a bucket, as they are; otherwise they need a call of their
   * own.
   */
  boolean carriesHeader();

  /**
   * A step begins.
   *
   * @param gradients memory of the flat vector
   * @param weight of this rank, 0 if it takes part with nothing
   */
  void begins(TensorMemory gradients, long step, double weight);

  /** The elements {@code [from .. to)} are there, times the weight; lent until the future completes, with whether the sum is known to be finite. */
  CompletableFuture<Boolean> send(int from, int to);

  /** Behind that future: the elements are the sum when this returns. */
  void receive(int from, int to);

  /** What this rank keeps of gradients from step to step, by name, alike at all ranks. Live, between two steps. */
  default Map<String, float[]> kept() {
    return Map.of();
  }

  /** All of a step has been received. */
  default void stepped() {}
}
