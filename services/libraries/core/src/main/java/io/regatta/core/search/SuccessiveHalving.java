package io.regatta.core.search;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.ArrayList;
import java.util.List;

/**
 * The schedule of successive halving (Jamieson and Talwalkar, 2016): all trials get few epochs, the best
 * 1/{@code eta} of them {@code eta} times as many, and so on; the last ones get all epochs. Immutable.
 *
 * @param trials ≥ 1
 * @param leastEpochs of the first rung, ≥ 1
 * @param mostEpochs of the last rung
 * @param eta ≥ 2
 */
public record SuccessiveHalving(int trials, int leastEpochs, int mostEpochs, int eta) {

  /** Some trials with an equal number of epochs. */
  public record Rung(int trials, int epochs) {}

  public SuccessiveHalving {
    if (trials < 1 || leastEpochs < 1 || mostEpochs < leastEpochs || eta < 2) {
      throw new InvalidInput("successive halving needs a trial, least_epochs from 1 to the job's epochs, and an eta of at least 2, not "
          + trials + ", " + leastEpochs + " of " + mostEpochs + ", and " + eta);
    }
  }

  /** Returns the rungs in order; each trains the best trials of the one before. */
  public List<Rung> rungs() {
    List<Rung> rungs = new ArrayList<>();
    int left = trials;
    int epochs = leastEpochs;
    while (left > 1 && epochs < mostEpochs) {
      rungs.add(new Rung(left, epochs));
      left = Math.max(1, left / eta);
      epochs = (int) Math.min(mostEpochs, (long) epochs * eta);
    }
    rungs.add(new Rung(left, mostEpochs));
    return rungs;
  }
}
