package io.regatta.core.optim;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.Map;
import java.util.Objects;

/**
 * The optimizer of a table, as a value that is part of the configuration and of the registration of a trainer.
 *
 * @param rule the optimizer with its hyperparameters
 * @param learningRate schedule, evaluated at the step of the round (sync) or of the push (other modes)
 * @param clipNorm each variable's (or table batch's) gradient is scaled to at most this L2 norm; 0: off. Applied by the
 *     trainer over whole tensors before the push ({@link GradientClipping}), so it does not depend on the number of
 *     shards
 */
public record OptimizerSpec(Optimizer rule, LearningRate learningRate, float clipNorm) {

  public OptimizerSpec {
    Objects.requireNonNull(rule, "rule");
    Objects.requireNonNull(learningRate, "learningRate");
    Definition definition = Optimizers.of(rule);
    definition.check(rule);
    new SpecCheck("optimizer " + definition.name()).in(Range.NOT_NEGATIVE, "clip_norm", clipNorm);
  }

  /** Creates the specification of an optimizer at a constant rate, without clipping by norm. */
  public OptimizerSpec(Optimizer rule, double rate) {
    this(rule, LearningRate.constant(rate), 0);
  }

  /** Returns the optimizer of this name with its defaults at a constant rate. */
  public static OptimizerSpec of(String name, double rate) {
    return new OptimizerSpec(Optimizers.get(name).defaults(), rate);
  }

  /** Returns the optimizer's name. */
  public String name() {
    return Optimizers.of(rule).name();
  }

  /** Returns the hyperparameters by name. */
  public Map<String, Double> hyperparameters() {
    return Optimizers.of(rule).values(rule);
  }

  /**
   * Returns the optimizer for elements that lie anywhere, such as rows of a table.
   *
   * @throws InvalidInput if it needs whole tensors
   */
  public ElementwiseOptimizer elementwise() {
    if (rule instanceof ElementwiseOptimizer elementwise) {
      return elementwise;
    }
    throw new InvalidInput("optimizer " + name() + " takes norms over whole dense variables, which there are none of here; "
        + "choose another optimizer, such as adam or momentum");
  }

  /** Returns the same optimizer without what its schedule does not use, so that two with the same effect are equal. */
  public OptimizerSpec used() {
    return new OptimizerSpec(rule, learningRate.used(), clipNorm);
  }

  /** Returns plain SGD at a constant rate. */
  public static OptimizerSpec sgd(double rate) {
    return new OptimizerSpec(new Sgd(Regularization.NONE), rate);
  }

  /** Returns momentum at a constant rate. */
  public static OptimizerSpec momentum(double rate, float momentum, boolean nesterov) {
    return new OptimizerSpec(new Momentum(Regularization.NONE, momentum, nesterov), rate);
  }

  /** Returns Adagrad with its defaults at a constant rate. */
  public static OptimizerSpec adagrad(double rate) {
    return of("adagrad", rate);
  }

  /** Returns FTRL-Proximal at alpha = {@code rate}, with n from 0. */
  public static OptimizerSpec ftrl(double rate, float beta, float l1, float l2) {
    return new OptimizerSpec(new Ftrl(Regularization.NONE, beta, l1, l2, 0), rate);
  }

  /** Returns Adam with its defaults at a constant rate. */
  public static OptimizerSpec adam(double rate) {
    return of("adam", rate);
  }
}
