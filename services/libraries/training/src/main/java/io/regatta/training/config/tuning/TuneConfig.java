package io.regatta.training.config.tuning;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.settings.Setting;
import java.util.Map;

/** The section {@code tune} of a job: what {@code regatta tune} chooses, and how. Training does not look at it. Immutable. */
public record TuneConfig(
    @Setting(value = "random", doc = "random: each trial trains for all epochs. halving: successive halving, all trials train for "
        + "least_epochs, the best 1/eta of them for eta times as many, and so on, the last ones for all epochs.")
    Strategy strategy,

    @Setting(doc = "Metric of the validation rows; a trial counts by its best evaluation. Empty: early_stopping.metric.")
    String metric,

    @Setting(value = "3", doc = "halving: one of so many trials goes on.")
    int eta,

    @Setting(value = "1", unit = "epochs", doc = "halving: epochs of the first trials.")
    int leastEpochs,

    @Setting(doc = "Keys of the job that are chosen, such as optimizer.learning_rate, with their ranges.")
    Map<String, RangeConfig> parameters) {

  /** The ways to search. */
  public enum Strategy { RANDOM, HALVING }

  public TuneConfig {
    if (eta < 2 || leastEpochs < 1) {
      throw new InvalidInput("eta must be at least 2, and least_epochs at least 1, not " + eta + " and " + leastEpochs);
    }
  }
}
