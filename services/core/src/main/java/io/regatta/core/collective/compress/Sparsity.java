package io.regatta.core.collective.compress;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.List;

/**
 * Which share of a gradient's elements is kept back in each step: none before {@code rampupBeginStep}; then, over
 * {@code rampupStep} steps, the values of {@code sparsity} for equally many steps each; then the last one. The warm-up
 * of Lin et al. (2018, section 3.3), in the words of PaddlePaddle's {@code dgc_configs}. A value; all ranks have the
 * same.
 *
 * @param rampupBeginStep steps before, whose gradients are sent whole
 * @param rampupStep steps over which the values are gone through, at least 1
 * @param sparsity shares in [0, 1), at least one
 */
public record Sparsity(long rampupBeginStep, long rampupStep, List<Double> sparsity) {

  public Sparsity {
    sparsity = List.copyOf(sparsity);
    if (rampupBeginStep < 0 || rampupStep < 1 || sparsity.isEmpty()
        || sparsity.stream().anyMatch(s -> !(s >= 0 && s < 1))) {
      throw new InvalidInput("dgc: rampup_begin_step must be at least 0, rampup_step at least 1, and sparsity one "
          + "or more shares from 0 to less than 1 (0.999 sends a thousandth), not " + rampupBeginStep + ", " + rampupStep
          + " and " + sparsity);
    }
  }

  /** Whether gradients are sent whole in this step, from 0. */
  public boolean isWhole(long step) {
    return step < rampupBeginStep;
  }

  /** How many of a variable's elements are sent in a step from {@link #rampupBeginStep} on: of each at least one. */
  public int kept(long step, int numel) {
    long period = (step - rampupBeginStep) * sparsity.size() / rampupStep;
    double share = sparsity.get((int) Math.min(period, sparsity.size() - 1));
    return Math.min(numel, Math.max(1, (int) Math.round(numel * (1 - share))));
  }
}
