package io.regatta.load.run;

import io.regatta.core.optim.OptimizerSpec;

/** The measured update rules. Stateless. */
public final class Rules {
  private static final double RATE = 0.01;

  private Rules() {}

  /** Returns the rule of this name, with its default constants. */
  public static OptimizerSpec of(String name) {
    return OptimizerSpec.of(name, RATE);
  }
}
