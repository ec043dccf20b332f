package io.regatta.program.block;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.training.loss.Loss;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A loss with L2 penalties. A penalty of λ adds λ·w to the gradient of a weight; the value of the loss does not have it,
 * so that losses of training and test compare. Used on the model thread.
 */
public final class RegularizedLoss extends Loss {

  private final Loss base;
  private final Map<Parameter, Double> penalties;

  private RegularizedLoss(Loss base, Map<Parameter, Double> penalties) {
    super(base.getName());
    this.base = base;
    this.penalties = penalties;
  }

  /**
   * Returns a loss with penalties.
   *
   * @param base loss of the outputs
   * @param penalties λ by parameter; those of 0 have no effect
   */
  public static Loss over(Loss base, Map<Parameter, Double> penalties) {
    Map<Parameter, Double> effective = new LinkedHashMap<>(penalties);
    effective.values().removeIf(lambda -> lambda == 0);
    return effective.isEmpty() ? base : new RegularizedLoss(base, effective);
  }

  /** Returns the weights of a block, without biases; none if it is null. */
  public static List<Parameter> weights(Block block) {
    return block == null ? List.of()
        : block.getParameters().values().stream().filter(each -> each.getType() == Parameter.Type.WEIGHT).toList();
  }

  @Override
  public NDArray evaluate(NDList labels, NDList predictions) {
    NDArray loss = base.evaluate(labels, predictions);
    for (Map.Entry<Parameter, Double> each : penalties.entrySet()) {
      NDArray penalty = each.getKey().getArray().square().sum().mul(each.getValue() / 2);
      loss = loss.add(penalty.sub(penalty.stopGradient()));
    }
    return loss;
  }
}
