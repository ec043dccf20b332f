package io.regatta.core.optim;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/**
 * A learning-rate schedule as a value: {@link #at} is a pure function of the step, so that servers, trainers and a
 * resumed run agree on the rate without exchanging it. Fields that a kind does not use are ignored.
 *
 * <p>A linear warm-up (Goyal et al., "Accurate, large minibatch SGD", 2017) goes from {@code warmupStart} to the rate
 * that the curve begins with. {@code STEP}, {@code EXPONENTIAL} and {@code COSINE} start after it: their n is the step
 * less {@code warmupSteps}. {@code PIECEWISE} boundaries are steps of the run, warm-up included. {@code NOAM} has its
 * own warm-up.
 *
 * @param kind which curve follows the warm-up
 * @param base rate that the curve starts from
 * @param decaySteps steps per decay for {@code STEP}, {@code EXPONENTIAL}; whole length for {@code COSINE}
 * @param decayRate factor per {@code decaySteps} for {@code STEP} and {@code EXPONENTIAL}
 * @param staircase exponential decay in whole powers only
 * @param boundaries first steps of the second, third ... piece of {@code PIECEWISE}, above warmupSteps
 * @param values rates of {@code PIECEWISE}, one more than boundaries
 * @param modelDim width d of {@code NOAM}: base · d^-0.5 · min(n^-0.5, n · warmup^-1.5) with n = step + 1
 * @param minimum floor of {@code COSINE}
 * @param warmupSteps linear warm-up before the curve (for {@code NOAM} its own parameter); 0: none
 * @param warmupStart rate at step 0 of the linear warm-up
 */
@RecordBuilder
public record LearningRate(Kind kind, double base, long decaySteps, double decayRate, boolean staircase,
    List<Long> boundaries, List<Double> values, int modelDim, double minimum, long warmupSteps, double warmupStart)
    implements LearningRateBuilder.With {

  /** Curves. Names as in the configuration, lower case there. */
  public enum Kind {
    /** base. */
    CONSTANT,
    /** base · decayRate^⌊n / decaySteps⌋. */
    STEP,
    /** values[i], where i is the number of boundaries ≤ step. */
    PIECEWISE,
    /** base · decayRate^(n / decaySteps); in whole powers with staircase, then the same as {@code STEP}. */
    EXPONENTIAL,
    /** The rate of Vaswani et al., "Attention is all you need", 2017, section 5.3. */
    NOAM,
    /** Half a cosine from base to minimum, then minimum: Loshchilov and Hutter, "SGDR", 2017, without restarts. */
    COSINE
  }

  private static final LearningRate UNSET =
      new LearningRate(Kind.CONSTANT, 0, 0, 1, false, List.of(), List.of(), 0, 0, 0, 0);

  public LearningRate {
    Objects.requireNonNull(kind, "kind");
    boundaries = List.copyOf(boundaries);
    values = List.copyOf(values);
    SpecCheck check = SpecCheck.of("learning rate", kind.name().toLowerCase(Locale.ROOT));
    check.require(warmupSteps >= 0, "warmup_steps", warmupSteps, "0 or more");
    if (kind != Kind.PIECEWISE) {
      check.notNegative("base", base);
    }
    if (kind != Kind.NOAM && warmupSteps > 0) {
      check.notNegative("warmup_start", warmupStart);
    }
    switch (kind) {
      case CONSTANT -> { }
      case STEP, EXPONENTIAL -> {
        check.atLeastOne("decay_steps", decaySteps);
        check.positive("decay_rate", decayRate);
      }
      case PIECEWISE -> {
        check.require(values.size() == boundaries.size() + 1, "values", values,
            "one more than boundaries " + boundaries);
        values.forEach(v -> check.notNegative("values", v));
        long previous = warmupSteps;
        for (long boundary : boundaries) {
          check.require(boundary > previous, "boundaries", boundaries,
              "rising, from above warmup_steps " + warmupSteps);
          previous = boundary;
        }
      }
      case NOAM -> {
        check.atLeastOne("model_dim", modelDim);
        check.atLeastOne("warmup_steps", warmupSteps);
      }
      case COSINE -> {
        check.atLeastOne("decay_steps", decaySteps);
        check.require(minimum >= 0 && minimum <= base, "minimum", minimum, "between 0 and base " + base);
      }
    }
  }

  /** Returns the same schedule with nothing in the fields that its kind does not use: two of the same rates are equal then. */
  public LearningRate used() {
    boolean piecewise = kind == Kind.PIECEWISE;
    boolean decays = kind == Kind.STEP || kind == Kind.EXPONENTIAL;
    boolean warm = kind != Kind.NOAM && warmupSteps > 0;
    return new LearningRate(kind, piecewise ? 0 : base, decays || kind == Kind.COSINE ? decaySteps : 0, decays ? decayRate : 1,
        kind == Kind.EXPONENTIAL && staircase, piecewise ? boundaries : List.of(), piecewise ? values : List.of(),
        kind == Kind.NOAM ? modelDim : 0, kind == Kind.COSINE ? minimum : 0, warmupSteps, warm ? warmupStart : 0);
  }

  /** Returns a constant rate. */
  public static LearningRate constant(double rate) {
    return UNSET.withBase(rate);
  }

  /** Returns a rate that is multiplied by decayRate every decaySteps. */
  public static LearningRate step(double base, long decaySteps, double decayRate) {
    return UNSET.with(rate -> rate.base(base).kind(Kind.STEP).decaySteps(decaySteps).decayRate(decayRate));
  }

  /** Returns a rate that falls evenly, by the factor decayRate within decaySteps. */
  public static LearningRate exponential(double base, long decaySteps, double decayRate) {
    return UNSET.with(rate -> rate.base(base).kind(Kind.EXPONENTIAL).decaySteps(decaySteps).decayRate(decayRate));
  }

  /** Returns a rate that is constant between boundaries; there is one value more than boundaries. */
  public static LearningRate piecewise(List<Long> boundaries, List<Double> values) {
    return UNSET.with(rate -> rate.kind(Kind.PIECEWISE).boundaries(boundaries).values(values));
  }

  /** Returns the rate of Noam for a model of this width, with its own warm-up. */
  public static LearningRate noam(double base, int modelDim, long warmupSteps) {
    return UNSET.with(rate -> rate.base(base).kind(Kind.NOAM).modelDim(modelDim).warmupSteps(warmupSteps));
  }

  /** Returns a rate that falls from base to minimum in decaySteps. */
  public static LearningRate cosine(double base, long decaySteps, double minimum) {
    return UNSET.with(rate -> rate.base(base).kind(Kind.COSINE).decaySteps(decaySteps).minimum(minimum));
  }

  /**
   * Returns the same curve with all rates multiplied by a factor, except the one that a warm-up begins with. Goyal et
   * al. (2017, section 2) scale from one worker to several in this way.
   */
  public LearningRate times(double factor) {
    return with(rate -> rate.base(base * factor).values(values.stream().map(v -> v * factor).toList())
        .minimum(minimum * factor));
  }

  /**
   * Returns the rate for the given step, counted from 0. It uses StrictMath, so that every machine gets the same bits.
   */
  public double at(long step) {
    if (step < 0) {
      throw new InvalidInput("learning rate asked for step " + step + ": steps count from 0");
    }
    if (kind == Kind.NOAM) {
      return noam(step + 1.0);
    }
    if (step < warmupSteps) {
      return warmupStart + (curve(warmupSteps) - warmupStart) * step / warmupSteps;
    }
    return curve(step);
  }

  private double curve(long step) {
    long n = step - warmupSteps;
    return switch (kind) {
      case CONSTANT -> base;
      case STEP -> base * StrictMath.pow(decayRate, n / decaySteps);
      case PIECEWISE -> piecewise(step);
      case EXPONENTIAL -> base * StrictMath.pow(decayRate, staircase ? n / decaySteps : n / (double) decaySteps);
      case NOAM -> throw new IllegalStateException("noam has its own warm-up");
      case COSINE -> {
        double progress = Math.min(n, decaySteps) / (double) decaySteps;
        yield minimum + (base - minimum) * (1 + StrictMath.cos(Math.PI * progress)) / 2;
      }
    };
  }

  private double piecewise(long step) {
    int i = 0;
    while (i < boundaries.size() && boundaries.get(i) <= step) {
      i++;
    }
    return values.get(i);
  }

  private double noam(double n) {
    double warmup = warmupSteps;
    return base / Math.sqrt(modelDim) * Math.min(1 / Math.sqrt(n), n / (warmup * Math.sqrt(warmup)));
  }
}
