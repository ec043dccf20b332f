package io.regatta.training;

import ai.djl.ndarray.NDList;
import ai.djl.training.dataset.Batch;
import java.util.Map;

/**
 * A listener that gets the metrics of a training loop every few batches. Called on the model thread of the replica that
 * trains.
 */
@FunctionalInterface
public interface FetchHandler {

  /**
   * Called every {@code everyBatches} batches with the newest metrics.
   *
   * @param step batches trained by this replica so far
   * @param values {@code loss} (mean over the batches since the last call), {@code batch_loss} (of the last batch
   *     alone), {@code examples_per_second}; with {@code debug} also the milliseconds per batch spent in
   *     {@code read_ms}, {@code pull_ms}, {@code forward_ms}, {@code backward_ms} and {@code push_ms}; in this order
   */
  void fetched(long step, Map<String, Double> values);

  /**
   * Called after every step, before {@link #fetched}. The batch and the predictions are closed when it returns.
   *
   * @param predictions output of the model for the batch, computed before the step's update
   * @param loss of the batch
   */
  default void trained(Batch batch, NDList predictions, float loss) {}

  /** Returns true if the pass ends with the step of which {@link #trained} was notified last. */
  default boolean isEnough() {
    return false;
  }

  /** Called after the last step of a pass on this replica, while others may still have some. */
  default void passed() {}
}
