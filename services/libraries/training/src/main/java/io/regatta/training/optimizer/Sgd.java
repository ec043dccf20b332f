package io.regatta.training.optimizer;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.optim.OptimizerSpec;

/** Stochastic gradient descent, run by the servers. */
public final class Sgd extends RegattaOptimizer {

  /** With core's defaults and a constant learning rate. */
  public Sgd(double rate) {
    this(OptimizerSpec.sgd(rate));
  }

  /** With schedule, weight decay and clipping. */
  public Sgd(OptimizerSpec spec) {
    super(spec);
    if (spec.kind() != OptimizerSpec.Kind.SGD) {
      throw new InvalidInput("Sgd needs a spec of kind SGD, not " + spec.kind());
    }
  }
}
