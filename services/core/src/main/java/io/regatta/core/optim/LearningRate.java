package io.regatta.core.optim;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.List;
import java.util.Locale;

/**
 * A learning-rate schedule as a value: {@link #at} is a pure function of the step, so that servers, trainers and a
 * resumed run agree on the rate without exchanging it.
 *
 * @param kind which curve follows the warm-up
 * @param base rate that the curve starts from
 * @param decaySteps steps per decay for {@code STEP}, {@code EXPONENTIAL}; whole length for {@code COSINE}
 * @param decayRate factor per {@code decaySteps} for {@code STEP} and {@code EXPONENTIAL}
 * @param staircase exponential decay in whole powers only
 * @param boundaries first steps of the second, third ... piece of {@code PIECEWISE}
 * @param values rates of {@code PIECEWISE}, one more than boundaries
 * @param modelDim width d of {@code NOAM}: base · d^-0.5 · min(n^-0.5, n · warmup^-1.5) with n = step + 1
 * @param minimum floor of {@code COSINE}
 * @param warmupSteps linear warm-up before the curve (for {@code NOAM} its own parameter); 0: none
 * @param warmupStart rate at step 0 of the linear warm-up
 */
public record LearningRate(Kind kind, double base, long decaySteps, double decayRate, boolean staircase,
    List<Long> boundaries, List<Double> values, int modelDim, double minimum, long warmupSteps, double warmupStart) {

  /** Curves. Names as in the configuration, lower case there. */
  public enum Kind { CONSTANT, STEP, PIECEWISE, EXPONENTIAL, NOAM, COSINE }

  /** A constant rate. */
  public static LearningRate constant(double rate) {
    return new LearningRate(Kind.CONSTANT, rate, 0, 1, false, List.of(), List.of(), 0, 0, 0, 0);
  }

  public LearningRate {
    boundaries = List.copyOf(boundaries);
    values = List.copyOf(values);
    require(Double.isFinite(base), "learning_rate must be a finite number, not " + base);
    require(warmupSteps >= 0, "warmup_steps must not be negative, but is " + warmupSteps);
    switch (kind) {
      case STEP, EXPONENTIAL, COSINE -> require(decaySteps > 0,
          "a " + kind.name().toLowerCase(Locale.ROOT) + " schedule needs decay_steps > 0, but it is " + decaySteps);
      case PIECEWISE -> {
        require(values.size() == boundaries.size() + 1, "a piecewise schedule needs one value more than boundaries, "
            + "but has " + values.size() + " values and " + boundaries.size() + " boundaries");
        for (int i = 1; i < boundaries.size(); i++) {
          require(boundaries.get(i) > boundaries.get(i - 1), "boundaries must rise, but are " + boundaries);
        }
      }
      case NOAM -> require(modelDim > 0 && warmupSteps > 0,
          "a noam schedule needs model_dim > 0 and warmup_steps > 0, but they are " + modelDim + " and " + warmupSteps);
      default -> { }
    }
  }

  private static void require(boolean condition, String message) {
    if (!condition) {
      throw new InvalidInput(message);
    }
  }

  /**
   * The rate for the given step. A linear warm-up comes first (not for {@code NOAM}, which has its own); the curve
   * then starts at its beginning, at step {@code warmupSteps}. {@code PIECEWISE} boundaries count all steps.
   *
   * @param step counted from 0
   */
  public double at(long step) {
    if (kind == Kind.NOAM) {
      double n = step + 1.0;
      return base * Math.pow(modelDim, -0.5) * Math.min(Math.pow(n, -0.5), n * Math.pow(warmupSteps, -1.5));
    }
    if (step < warmupSteps) {
      return warmupStart + (base - warmupStart) * step / warmupSteps;
    }
    long s = step - warmupSteps;
    return switch (kind) {
      case STEP -> base * Math.pow(decayRate, s / decaySteps);
      case EXPONENTIAL -> base * Math.pow(decayRate, staircase ? s / decaySteps : (double) s / decaySteps);
      case COSINE -> minimum + 0.5 * (base - minimum) * (1 + Math.cos(Math.PI * Math.min(s, decaySteps) / decaySteps));
      case PIECEWISE -> {
        int piece = 0;
        while (piece < boundaries.size() && step >= boundaries.get(piece)) {
          piece++;
        }
        yield values.get(piece);
      }
      default -> base;
    };
  }
}
