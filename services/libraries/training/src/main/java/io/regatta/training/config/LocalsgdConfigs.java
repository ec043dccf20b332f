package io.regatta.training.config;

import io.regatta.core.collective.compress.LocalSteps;
import io.regatta.node.settings.Setting;

/** The {@code collective.localsgd_configs} section of a job, with PaddlePaddle's key names. */
public record LocalsgdConfigs(
    @Setting(value = "1", unit = "steps", doc = "Steps that a trainer makes alone between two averagings of the "
        + "parameters.")
    int kSteps,

    @Setting(value = "1", unit = "steps", doc = "In so many steps at first, parameters are averaged after each.")
    long beginStep) implements Communication {

  public LocalsgdConfigs {
    LocalSteps.fixed(kSteps, beginStep); // throws for values that would fail later
  }
}
