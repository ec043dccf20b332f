package io.regatta.training.config;

import io.regatta.core.collective.compress.Sparsity;
import io.regatta.node.settings.Setting;
import java.util.List;

/** The {@code collective.dgc_configs} section of a job: deep gradient compression, with PaddlePaddle's key names. */
public record DgcConfigs(
    @Setting(value = "0", unit = "steps", doc = "Before, gradients are exchanged whole.")
    long rampupBeginStep,

    @Setting(value = "1", unit = "steps", doc = "Over so many steps from then on the shares of sparsity are gone through, "
        + "for equally many steps each; the last one stays.")
    long rampupStep,

    @Setting(value = "0.999", doc = "Shares of each variable's gradient that a step keeps back: 0.999 sends a "
        + "thousandth.")
    List<Double> sparsity) implements Communication {

  public DgcConfigs {
    sparsity = List.copyOf(sparsity);
    new Sparsity(rampupBeginStep, rampupStep, sparsity); // throws for values that would fail later
  }

  /** Returns the same as core's value. */
  public Sparsity toSpec() {
    return new Sparsity(rampupBeginStep, rampupStep, sparsity);
  }
}
