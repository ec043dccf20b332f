package io.regatta.training.optimizer;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.optim.OptimizerSpec;

/** SGD with momentum, optionally in Nesterov's form, run by the servers. */
public final class Momentum extends RegattaOptimizer {

  /** With core's defaults and a constant learning rate. */
  public Momentum(double rate, float momentum, boolean nesterov) {
    this(OptimizerSpec.momentum(rate, momentum, nesterov));
  }

  /** With schedule, weight decay and clipping. */
  public Momentum(OptimizerSpec spec) {
    super(spec);
    if (spec.kind() != OptimizerSpec.Kind.MOMENTUM) {
      throw new InvalidInput("Momentum needs a spec of kind MOMENTUM, not " + spec.kind());
    }
  }
}
