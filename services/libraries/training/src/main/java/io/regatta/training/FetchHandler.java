package io.regatta.training;

import ai.djl.ndarray.NDList;
import ai.djl.training.dataset.Batch;
import java.util.Map;

/** Gets the figures of a training loop every so many batches, on the model thread of the replica that trains. */
@FunctionalInterface
public interface FetchHandler {

  /**
   * @param step batches trained by this replica so far
   * @param values {@code loss} (mean over the batches since the last call), {@code batch_loss} (of the last batch
   *     alone), {@code examples_per_second}, and with
   *     {@code debug} the milliseconds per batch spent in {@code read_ms}, {@code pull_ms}, {@code forward_ms},
   *     {@code backward_ms} and {@code push_ms}; in this order
   */
  void fetched(long step, Map<String, Double> values);

  /**
   * Called after every step, before {@link #fetched}; the batch and the predictions are closed when it returns.
   *
   * @param predictions what the model gave for the batch before the step
   * @param loss of the batch
   */
  default void trained(Batch batch, NDList predictions, float loss) {}
}
