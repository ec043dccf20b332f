package io.regatta.training.heter.part;

import ai.djl.ndarray.NDArray;
import ai.djl.training.GradientCollector;

/**
 * A gradient collector of a network that is cut: its backward pass begins at the cut, with the gradients from the heter
 * worker. Belongs to a model thread.
 */
final class CutCollector implements GradientCollector {

  private final GradientCollector engine;
  private final RemotePart part;

  CutCollector(GradientCollector engine, RemotePart part) {
    this.engine = engine;
    this.part = part;
  }

  @Override
  public void backward(NDArray target) {
    part.backward(engine, target);
  }

  @Override
  public void zeroGradients() {
    engine.zeroGradients();
  }

  @Override
  public void close() {
    part.collected();
    engine.close();
  }
}
