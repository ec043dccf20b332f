package io.regatta.training.strategy.downpour;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Mode;
import io.regatta.node.settings.Setting;
import io.regatta.training.strategy.TrainerStrategy;

/**
 * The strategy of downpour mode (Downpour SGD, Dean et al., 2012): each replica adds up its gradients and pushes their
 * sum every {@code pushSteps} steps, and pulls what the servers have every {@code pullSteps} steps. In between it
 * trains on the values that it has, to which it makes no updates of its own. With 1 and 1 it is async.
 */
public record Downpour(
    @Setting(value = "1", unit = "steps", doc = "downpour: steps whose gradients are added up for one push; the more, the "
        + "lower the learning rate that is stable.")
    int pushSteps,
    @Setting(value = "1", unit = "steps", doc = "downpour: steps between two pulls.")
    int pullSteps) implements TrainerStrategy {

  public Downpour {
    if (pushSteps < 1) {
      throw new InvalidInput("push_steps must be at least 1, not " + pushSteps);
    }
    if (pullSteps < 1) {
      throw new InvalidInput("pull_steps must be at least 1, not " + pullSteps);
    }
  }

  @Override
  public Mode mode() {
    return Mode.DOWNPOUR;
  }

  @Override
  public int stepsPerPush() {
    return pushSteps;
  }

  @Override
  public int stepsPerPull() {
    return pullSteps;
  }
}
