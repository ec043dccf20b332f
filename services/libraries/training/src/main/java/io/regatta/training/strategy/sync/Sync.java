package io.regatta.training.strategy.sync;

import io.regatta.core.exchange.Mode;
import io.regatta.training.strategy.TrainerStrategy;

/** The strategy of sync mode: each step pushes the rank's mean gradient, then pulls the values of its round. */
public record Sync() implements TrainerStrategy {

  @Override
  public Mode mode() {
    return Mode.SYNC;
  }
}
