package io.regatta.core.optim;

import java.util.List;

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

  /** The rate for the given step, counted from 0. */
  public double at(long step) {
    throw new UnsupportedOperationException("TODO core helper");
  }
}
