package io.regatta.training.config;

import io.regatta.core.collective.compress.LocalSteps;
import io.regatta.node.settings.Setting;

/** The {@code collective.adaptive_localsgd_configs} section of a job, with PaddlePaddle's key names. */
public record AdaptiveLocalsgdConfigs(
    @Setting(value = "1", unit = "steps", doc = "Steps between two averagings that the rule starts from: it makes them "
        + "more where the learning rate falls, and fewer where the loss does, from 1 to 16.")
    int initKSteps,

    @Setting(value = "1", unit = "steps", doc = "In so many steps at first, parameters are averaged after each.")
    long beginStep) implements Communication {

  public AdaptiveLocalsgdConfigs {
    LocalSteps.adaptive(initKSteps, beginStep); // throws for values that would fail later
  }
}
