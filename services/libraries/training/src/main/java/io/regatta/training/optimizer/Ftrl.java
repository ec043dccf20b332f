package io.regatta.training.optimizer;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.optim.OptimizerSpec;

/** FTRL-Proximal (McMahan et al., 2013), run by the servers. */
public final class Ftrl extends RegattaOptimizer {

  /** With alpha = {@code rate}, constant. */
  public Ftrl(double rate, float beta, float l1, float l2) {
    this(OptimizerSpec.ftrl(rate, beta, l1, l2));
  }

  /** With schedule, weight decay and clipping. */
  public Ftrl(OptimizerSpec spec) {
    super(spec);
    if (spec.kind() != OptimizerSpec.Kind.FTRL) {
      throw new InvalidInput("Ftrl needs a spec of kind FTRL, not " + spec.kind());
    }
  }
}
