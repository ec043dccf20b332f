package io.regatta.training.model;

/**
 * Sums over the batches of all ranks, for layers that need them in the middle of a pass. Forward passes call it in the order of
 * layers on the model thread, backward passes on threads of the engine.
 */
public interface BatchSums {

  /** Of one rank alone. */
  BatchSums ALONE = new BatchSums() {
    @Override
    public int forward(float[] sums) {
      return 0;
    }

    @Override
    public void backward(int layer, float[] sums) {}
  };

  /**
   * Replaces a layer's sums by those over all ranks, the same bits at each.
   *
   * @return which layer of this pass it is, for {@link #backward}
   */
  int forward(float[] sums);

  /** The same on the way back: layers come in the reverse of their order; one that comes early waits here. */
  void backward(int layer, float[] sums);
}
