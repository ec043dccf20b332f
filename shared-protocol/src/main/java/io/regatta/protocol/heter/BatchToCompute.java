package io.regatta.protocol.heter;

import io.regatta.protocol.tensor.CutBatch;
import java.util.List;

/**
 * A batch at a cut: what the part after it is computed on.
 *
 * @param head without tensors, which the codec adds
 * @param tensors inputs, labels, values that are not trained, and perhaps dense values
 */
public record BatchToCompute(BatchId id, CutBatch head, List<TensorData> tensors) {

  public BatchToCompute {
    tensors = List.copyOf(tensors);
  }
}
