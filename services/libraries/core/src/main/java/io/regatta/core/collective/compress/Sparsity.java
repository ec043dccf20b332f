package io.regatta.core.collective.compress;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.List;

/**
 * The fraction of a gradient's elements that is not sent in each step. A value; all ranks have the same. It is 0 before
 * {@code rampupBeginStep}. Then, over {@code rampupStep} steps, it takes the values of {@code sparsity} for equally
 * many steps each, and then keeps the last one. This is the warm-up of Lin et al. (2018, section 3.3), in the words of
 * PaddlePaddle's {@code dgc_configs}.
 *
 * @param rampupBeginStep number of first steps, whose gradients are sent whole
 * @param rampupStep number of steps over which the values are used one after another, at least 1
 * @param sparsity fractions in [0, 1), at least one
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

  /** Returns true if gradients are sent whole in this step; steps count from 0. */
  public boolean isWhole(long step) {
    return step < rampupBeginStep;
  }

  /** Returns how many of a variable's elements are sent in a step, from {@link #rampupBeginStep} on: at least one. */
  public int kept(long step, int numel) {
    long period = (step - rampupBeginStep) * sparsity.size() / rampupStep;
    double share = sparsity.get((int) Math.min(period, sparsity.size() - 1));
    return Math.min(numel, Math.max(1, (int) Math.round(numel * (1 - share))));
  }
}
