package io.regatta.program.block;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.nn.Activation;
import ai.djl.nn.Parameter;
import ai.djl.training.loss.Loss;
import java.util.Map;

/**
 * A loss with weights of positive examples and L2 penalties. An example of label 1 counts {@code positiveWeight} times,
 * the batch's mean is still over its number of examples. A penalty of λ adds λ·w to the gradient of a weight; the value
 * of the loss does not have it, so that losses of training and test compare. Used on the model thread.
 */
final class RegularizedLoss extends Loss {

  private final Loss base;
  private final double positiveWeight;
  private final Map<Parameter, Double> penalties;

  /** @param penalties λ by parameter */
  RegularizedLoss(Loss base, double positiveWeight, Map<Parameter, Double> penalties) {
    super(base.getName());
    this.base = base;
    this.positiveWeight = positiveWeight;
    this.penalties = penalties;
  }

  @Override
  public NDArray evaluate(NDList labels, NDList predictions) {
    NDArray loss = base.evaluate(labels, predictions);
    if (positiveWeight != 1) { // −ln σ(x) = softplus(−x)
      NDArray ofPositives = Activation.softPlus(predictions.singletonOrThrow().neg()).mul(labels.singletonOrThrow());
      loss = loss.add(ofPositives.mean().mul(positiveWeight - 1));
    }
    for (Map.Entry<Parameter, Double> each : penalties.entrySet()) {
      NDArray penalty = each.getKey().getArray().square().sum().mul(each.getValue() / 2);
      loss = loss.add(penalty.sub(penalty.stopGradient()));
    }
    return loss;
  }
}
