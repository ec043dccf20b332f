package io.regatta.trainer;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.optim.LearningRate;
import java.util.List;

/**
 * Learning-rate schedule of an optimizer section; the rate at its start is the optimizer's {@code learning_rate}.
 * See {@link LearningRate} for the formulas.
 */
public record ScheduleConfig(LearningRate.Kind kind, long decaySteps, double decayRate, boolean staircase,
    List<Long> boundaries, List<Double> values, int modelDim, double minimum, long warmupSteps, double warmupStart) {

  public ScheduleConfig {
    kind = kind == null ? LearningRate.Kind.CONSTANT : kind;
    boundaries = boundaries == null ? List.of() : List.copyOf(boundaries);
    values = values == null ? List.of() : List.copyOf(values);
    if (kind == LearningRate.Kind.PIECEWISE && values.size() != boundaries.size() + 1) {
      throw new InvalidInput("optimizer.schedule: piecewise needs one value more than boundaries, not "
          + values.size() + " values for " + boundaries.size() + " boundaries");
    }
    if ((kind == LearningRate.Kind.STEP || kind == LearningRate.Kind.EXPONENTIAL || kind == LearningRate.Kind.COSINE)
        && decaySteps < 1) {
      throw new InvalidInput("optimizer.schedule: " + kind.name().toLowerCase(java.util.Locale.ROOT)
          + " needs decay_steps of at least 1, not " + decaySteps);
    }
    if (warmupSteps < 0) {
      throw new InvalidInput("optimizer.schedule.warmup_steps must not be negative: " + warmupSteps);
    }
  }

  /** No schedule. */
  public static ScheduleConfig constant() {
    return new ScheduleConfig(LearningRate.Kind.CONSTANT, 0, 1, false, List.of(), List.of(), 0, 0, 0, 0);
  }

  /** The schedule as core's value. */
  public LearningRate toSpec(double base) {
    return new LearningRate(kind, base, decaySteps, decayRate, staircase, boundaries, values, modelDim, minimum,
        warmupSteps, warmupStart);
  }
}
