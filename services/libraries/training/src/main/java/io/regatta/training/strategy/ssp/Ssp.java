package io.regatta.training.strategy.ssp;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Mode;
import io.regatta.node.settings.Setting;
import io.regatta.training.strategy.TrainerStrategy;

/** The strategy of ssp mode: as async, but a pull waits while the slowest trainer is too far behind. */
public record Ssp(
    @Setting(value = "4", unit = "steps", doc = "ssp: steps that a trainer may be ahead of the slowest.")
    int stalenessBound) implements TrainerStrategy {

  public Ssp {
    if (stalenessBound < 0) {
      throw new InvalidInput("staleness_bound must be at least 0, not " + stalenessBound);
    }
  }

  @Override
  public Mode mode() {
    return Mode.SSP;
  }
}
