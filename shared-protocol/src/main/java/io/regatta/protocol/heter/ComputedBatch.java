package io.regatta.protocol.heter;

import io.regatta.protocol.tensor.CutResult;
import java.util.List;

/**
 * The result of a batch.
 *
 * @param head without tensors, which the codec adds
 * @param tensors outputs, gradients of inputs, values that are not trained, and perhaps the dense gradient
 */
public record ComputedBatch(BatchId id, CutResult head, List<TensorData> tensors) {

  public ComputedBatch {
    tensors = List.copyOf(tensors);
  }
}
