package io.regatta.training.config;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.optim.LearningRate;
import io.regatta.node.settings.Setting;
import io.regatta.node.settings.Settings;
import java.util.List;

/**
 * Learning-rate schedule of an optimizer section; the rate at its start is the optimizer's {@code learning_rate}.
 * See {@link LearningRate} for the formulas.
 */
public record ScheduleConfig(
    @Setting(value = "constant", doc = "Curve of the learning rate after the warm-up.")
    LearningRate.Kind kind,

    @Setting(value = "0", unit = "steps", doc = "step, exponential: steps per decay; cosine: whole length.")
    long decaySteps,

    @Setting(value = "1", doc = "step, exponential: factor per decay_steps.")
    double decayRate,

    @Setting(value = "false", doc = "exponential: decay in whole powers only.")
    boolean staircase,

    @Setting(unit = "steps", doc = "piecewise: first steps of the second, third ... piece.")
    List<Long> boundaries,

    @Setting(doc = "piecewise: rates of the pieces, one more than boundaries; learning_rate has no part in it.")
    List<Double> values,

    @Setting(value = "0", doc = "noam: width d of the model; base * d^-0.5 * min(n^-0.5, n * warmup_steps^-1.5).")
    int modelDim,

    @Setting(value = "0", doc = "cosine: floor of the rate.")
    double minimum,

    @Setting(value = "0", unit = "steps", doc = "Linear warm-up before the curve; noam: its own parameter. 0: none.")
    long warmupSteps,

    @Setting(value = "0", doc = "Rate at step 0 of the linear warm-up.")
    double warmupStart) {

  public ScheduleConfig {
    boundaries = List.copyOf(boundaries);
    values = List.copyOf(values);
    if (kind == LearningRate.Kind.PIECEWISE && values.size() != boundaries.size() + 1) {
      throw new InvalidInput("piecewise needs one value more than boundaries, not "
          + values.size() + " values for " + boundaries.size() + " boundaries");
    }
    if ((kind == LearningRate.Kind.STEP || kind == LearningRate.Kind.EXPONENTIAL || kind == LearningRate.Kind.COSINE)
        && decaySteps < 1) {
      throw new InvalidInput(kind.name().toLowerCase(java.util.Locale.ROOT)
          + " needs decay_steps of at least 1, not " + decaySteps);
    }
    if (warmupSteps < 0) {
      throw new InvalidInput("warmup_steps must not be negative: " + warmupSteps);
    }
  }

  /** Returns the constant schedule. */
  public static ScheduleConfig constant() {
    return Settings.defaults(ScheduleConfig.class);
  }

  /** Returns the schedule as core's value. */
  public LearningRate toSpec(double base) {
    return new LearningRate(kind, base, decaySteps, decayRate, staircase, boundaries, values, modelDim, minimum,
        warmupSteps, warmupStart);
  }
}
