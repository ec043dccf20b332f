package io.regatta.load.run;

import io.regatta.core.optim.OptimizerSpec;

/** The measured update rules. Stateless. */
public final class Rules {
  private static final double RATE = 0.01;

  private Rules() {}

  /** Returns a rule of this kind, with usual constants. */
  public static OptimizerSpec of(OptimizerSpec.Kind kind) {
    return switch (kind) {
      case SGD -> OptimizerSpec.sgd(RATE);
      case MOMENTUM -> OptimizerSpec.momentum(RATE, 0.9f, false);
      case ADAGRAD -> OptimizerSpec.adagrad(RATE);
      case ADAM -> OptimizerSpec.adam(RATE);
      case FTRL -> OptimizerSpec.ftrl(RATE, 1, 0.1f, 0.1f);
    };
  }
}
