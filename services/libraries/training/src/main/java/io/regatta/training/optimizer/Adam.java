package io.regatta.training.optimizer;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.optim.OptimizerSpec;

/** Adam (Kingma and Ba, 2015), run by the servers. */
public final class Adam extends RegattaOptimizer {

  /** With core's defaults and a constant learning rate. */
  public Adam(double rate) {
    this(OptimizerSpec.adam(rate));
  }

  /** With schedule, weight decay and clipping. */
  public Adam(OptimizerSpec spec) {
    super(spec);
    if (spec.kind() != OptimizerSpec.Kind.ADAM) {
      throw new InvalidInput("Adam needs a spec of kind ADAM, not " + spec.kind());
    }
  }
}
