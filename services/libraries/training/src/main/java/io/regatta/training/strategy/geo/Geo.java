package io.regatta.training.strategy.geo;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Mode;
import io.regatta.node.settings.Setting;
import io.regatta.training.strategy.TrainerStrategy;

/** The strategy of geo mode: local steps of SGD; every {@code kSteps} steps the differences are exchanged. */
public record Geo(
    @Setting(value = "100", unit = "steps", doc = "geo: steps between two exchanges.")
    int kSteps) implements TrainerStrategy {

  public Geo {
    if (kSteps < 1) {
      throw new InvalidInput("k_steps must be at least 1, not " + kSteps);
    }
  }

  @Override
  public Mode mode() {
    return Mode.GEO;
  }

  @Override
  public int stepsPerPush() {
    return kSteps;
  }

  @Override
  public int stepsPerPull() {
    return kSteps;
  }
}
