package io.regatta.training.heter.part;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.training.loss.Loss;

/** A loss that heter workers compute in training passes; elsewhere it is computed here. Belongs to a model thread. */
final class RemoteLoss extends Loss {

  private final RemotePart part;

  RemoteLoss(Loss own, RemotePart part) {
    super(own.getName());
    this.part = part;
  }

  @Override
  public NDArray evaluate(NDList labels, NDList predictions) {
    return part.loss(labels, predictions);
  }
}
