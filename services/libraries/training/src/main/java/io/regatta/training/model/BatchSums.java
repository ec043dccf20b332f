package io.regatta.training.model;

/**
 * An exchange of sums over the batches of all ranks, for layers that need them in the middle of a pass. Forward passes
 * call it in the order of layers on the model thread, backward passes on threads of the engine.
 */
public interface BatchSums {

  /** The sums of one rank alone. */
  BatchSums ALONE = new BatchSums() {
    @Override
    public int forward(float[] sums) {
      return 0;
    }

    @Override
    public void backward(int layer, float[] sums) {}
  };

  /**
   * Replaces a layer's sums by those over all ranks, the same bits on each.
   *
   * @return the number of the layer in this pass, for {@link #backward}
   */
  int forward(float[] sums);

  /**
   * Replaces a layer's sums in the backward pass. Layers are exchanged in reverse order; a call that comes early waits.
   */
  void backward(int layer, float[] sums);
}
