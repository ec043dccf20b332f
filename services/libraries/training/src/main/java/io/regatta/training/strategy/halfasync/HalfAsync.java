package io.regatta.training.strategy.halfasync;

import io.regatta.core.exchange.Mode;
import io.regatta.training.strategy.TrainerStrategy;

/** The strategy of half-async mode: each step pushes the rank's mean gradient, then pulls what the servers have. */
public record HalfAsync() implements TrainerStrategy {

  @Override
  public Mode mode() {
    return Mode.HALF_ASYNC;
  }
}
