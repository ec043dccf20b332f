package io.regatta.trainer;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.optim.OptimizerSpec;

/** An optimizer section ({@code optimizer}, {@code sparse_optimizer}) of a job file. See {@link OptimizerSpec}. */
public record OptimizerConfig(OptimizerSpec.Kind kind, double learningRate, ScheduleConfig schedule, double momentum,
    boolean nesterov, double beta1, double beta2, double epsilon, double initialAccumulator, double weightDecay,
    double clipValue, double clipNorm) {

  public OptimizerConfig {
    kind = kind == null ? OptimizerSpec.Kind.SGD : kind;
    schedule = schedule == null ? ScheduleConfig.constant() : schedule;
    if (!(learningRate >= 0) || Double.isInfinite(learningRate)) {
      throw new InvalidInput("optimizer.learning_rate must be a number of at least 0, not " + learningRate);
    }
    if (weightDecay < 0 || clipValue < 0 || clipNorm < 0) {
      throw new InvalidInput("optimizer: weight_decay, clip_value and clip_norm must not be negative (0: off)");
    }
  }

  /** The optimizer as core's value, the one that travels to the servers. */
  public OptimizerSpec toSpec() {
    return new OptimizerSpec(kind, schedule.toSpec(learningRate), (float) momentum, nesterov, (float) beta1,
        (float) beta2, (float) epsilon, (float) initialAccumulator, (float) weightDecay, (float) clipValue,
        (float) clipNorm);
  }
}
