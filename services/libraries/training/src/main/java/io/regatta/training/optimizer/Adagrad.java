package io.regatta.training.optimizer;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.optim.OptimizerSpec;

/** Adagrad (Duchi et al., 2011), run by the servers. */
public final class Adagrad extends RegattaOptimizer {

  /** With core's defaults and a constant learning rate. */
  public Adagrad(double rate) {
    this(OptimizerSpec.adagrad(rate));
  }

  /** With schedule, weight decay and clipping. */
  public Adagrad(OptimizerSpec spec) {
    super(spec);
    if (spec.kind() != OptimizerSpec.Kind.ADAGRAD) {
      throw new InvalidInput("Adagrad needs a spec of kind ADAGRAD, not " + spec.kind());
    }
  }
}
