package io.regatta.training.strategy.collective;

import io.regatta.core.exchange.Mode;
import io.regatta.training.strategy.TrainerStrategy;

/**
 * The strategy of collective mode: each step exchanges gradients with the other ranks. Its keys stand in a section of
 * their own, {@code collective}.
 */
public record Collective() implements TrainerStrategy {

  @Override
  public Mode mode() {
    return Mode.COLLECTIVE;
  }
}
