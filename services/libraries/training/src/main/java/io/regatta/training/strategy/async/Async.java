package io.regatta.training.strategy.async;

import io.regatta.core.exchange.Mode;
import io.regatta.node.settings.Setting;
import io.regatta.training.strategy.TrainerStrategy;

/** The strategy of async mode: each step of each replica pushes its gradients, then pulls what the servers have. */
public record Async(
    @Setting(value = "false", doc = "async: a step computes while the push of the one before is under way, on values pulled "
        + "before that push: faster, and stable at about half the learning rate. false: it waits until its replica's "
        + "pushes have been applied.")
    boolean overlap) implements TrainerStrategy {

  @Override
  public Mode mode() {
    return Mode.ASYNC;
  }
}
