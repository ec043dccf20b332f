package io.regatta.training.strategy.lazyasync;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Mode;
import io.regatta.node.settings.Setting;
import io.regatta.training.strategy.TrainerStrategy;

/**
 * The strategy of lazy-async mode: each step of each replica pushes its gradients, and every {@code kSteps} steps the
 * replica pulls what the servers have. In between it trains on its copy, to which it makes no updates of its own.
 */
public record LazyAsync(
    @Setting(value = "4", unit = "steps", doc = "lazy_async: steps between two pulls; the more, the lower the learning "
        + "rate that is stable.")
    int kSteps) implements TrainerStrategy {

  public LazyAsync {
    if (kSteps < 1) {
      throw new InvalidInput("k_steps must be at least 1, not " + kSteps);
    }
  }

  @Override
  public Mode mode() {
    return Mode.LAZY_ASYNC;
  }

  @Override
  public int stepsPerPull() {
    return kSteps;
  }
}
