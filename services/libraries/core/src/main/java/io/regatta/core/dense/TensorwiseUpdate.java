package io.regatta.core.dense;

import io.regatta.core.optim.TensorNorms;
import io.regatta.core.optim.TensorwiseOptimizer;
import io.regatta.core.optim.UpdateStep;
import java.util.List;

/**
 * One step of an optimizer that needs norms over whole tensors, which lie one after another in a shard's dense vector. A
 * block can hold several tensors, and a tensor can lie in several blocks.
 */
final class TensorwiseUpdate implements DenseUpdate {

  private final DenseVector vector;
  private final TensorwiseOptimizer optimizer;
  private final UpdateStep step;
  private final List<DenseTensor> tensors;
  private final TensorNorms[] norms;

  /** @param tensors all of the vector's, in order */
  TensorwiseUpdate(DenseVector vector, TensorwiseOptimizer optimizer, UpdateStep step, List<DenseTensor> tensors) {
    this.vector = vector;
    this.optimizer = optimizer;
    this.step = step;
    this.tensors = tensors;
    norms = tensors.stream().map(t -> new TensorNorms(t.dimensions())).toArray(TensorNorms[]::new);
  }

  @Override
  public int visits() {
    return 2;
  }

  @Override
  public void apply(int visit, int b, float[] gradient) {
    float[] w = visit == 0 ? vector.values(b) : vector.writable(b);
    float[][] slots = vector.writableSlots(b);
    int first = b * DenseValues.BLOCK;
    for (int t = tensorAt(first); t < tensors.size() && tensors.get(t).offset() < first + w.length; t++) {
      DenseTensor tensor = tensors.get(t);
      int from = Math.max(tensor.offset() - first, 0);
      int to = Math.min(tensor.offset() - first + tensor.size(), w.length);
      if (visit == 0) {
        optimizer.measure(w, slots, gradient, from, to, step, norms[t]);
      } else {
        optimizer.apply(w, slots, gradient, from, to, step, norms[t]);
      }
    }
  }

  /** Returns the index of the tensor that holds this element. */
  private int tensorAt(int element) {
    int low = 0;
    int high = tensors.size() - 1;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (tensors.get(middle).offset() <= element) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }
}
