package io.regatta.core.optim;

import java.util.Objects;

/**
 * The optimizer of a table, as a value that is part of the configuration and of the registration of a trainer. Fields
 * that a kind does not use are ignored by it.
 *
 * @param kind the update rule
 * @param learningRate schedule, evaluated at the step of the round (sync) or of the push (other modes)
 * @param momentum factor of {@code MOMENTUM}
 * @param nesterov look-ahead form of {@code MOMENTUM}
 * @param beta1 first-moment decay of {@code ADAM}
 * @param beta2 second-moment decay of {@code ADAM}
 * @param epsilon added to the denominator of {@code ADAGRAD} and {@code ADAM}
 * @param initialAccumulator start of {@code ADAGRAD}'s accumulator and of {@code FTRL}'s n
 * @param weightDecay L2 term: gradient += weightDecay · weight, after clipping by value
 * @param clipValue each gradient element is limited to ±clipValue; 0: off. Applied at the shard
 * @param clipNorm each variable's (or table batch's) gradient is scaled to at most this L2 norm; 0: off. Applied by the
 *     trainer over whole tensors before the push ({@link GradientClipping}), so it does not depend on the number of
 *     shards
 * @param beta of {@code FTRL}: added to the root of n
 * @param l1 of {@code FTRL}: weights whose |z| is not above it are 0
 * @param l2 of {@code FTRL}: added to the divisor; half of what TensorFlow and Paddle call l2
 */
public record OptimizerSpec(Kind kind, LearningRate learningRate, float momentum, boolean nesterov, float beta1,
    float beta2, float epsilon, float initialAccumulator, float weightDecay, float clipValue, float clipNorm, float beta,
    float l1, float l2) {

  /** Update rules. Names as in the configuration, lower case there. */
  public enum Kind { SGD, MOMENTUM, ADAGRAD, ADAM, FTRL }

  public OptimizerSpec {
    Objects.requireNonNull(kind, "kind");
    Objects.requireNonNull(learningRate, "learningRate");
    SpecCheck check = SpecCheck.of("optimizer", kind);
    check.notNegative("weight_decay", weightDecay);
    check.notNegative("clip_value", clipValue);
    check.notNegative("clip_norm", clipNorm);
    switch (kind) {
      case SGD -> { }
      case MOMENTUM -> check.fraction("momentum", momentum);
      case ADAGRAD -> {
        check.positive("epsilon", epsilon);
        check.notNegative("initial_accumulator", initialAccumulator);
      }
      case ADAM -> {
        check.fraction("beta1", beta1);
        check.fraction("beta2", beta2);
        check.positive("epsilon", epsilon);
      }
      case FTRL -> {
        check.notNegative("initial_accumulator", initialAccumulator);
        check.notNegative("l1", l1);
        check.notNegative("l2", l2);
        check.require(beta >= 0 && Float.isFinite(beta) && beta + initialAccumulator + l2 > 0, "beta", beta,
            "a finite number, 0 or more, and not 0 where initial_accumulator and l2 are: they divide");
      }
    }
  }

  /** Creates the specification of a rule other than {@code FTRL}. */
  public OptimizerSpec(Kind kind, LearningRate learningRate, float momentum, boolean nesterov, float beta1, float beta2,
      float epsilon, float initialAccumulator, float weightDecay, float clipValue, float clipNorm) {
    this(kind, learningRate, momentum, nesterov, beta1, beta2, epsilon, initialAccumulator, weightDecay, clipValue,
        clipNorm, 0, 0, 0);
  }

  /**
   * Returns the same optimizer with 0 in every field that its kind does not use, so that two with the same effect are
   * equal.
   */
  public OptimizerSpec used() {
    boolean adam = kind == Kind.ADAM;
    boolean ftrl = kind == Kind.FTRL;
    boolean momentous = kind == Kind.MOMENTUM;
    return new OptimizerSpec(kind, learningRate.used(), momentous ? momentum : 0, momentous && nesterov, adam ? beta1 : 0,
        adam ? beta2 : 0, adam || kind == Kind.ADAGRAD ? epsilon : 0, ftrl || kind == Kind.ADAGRAD ? initialAccumulator : 0,
        weightDecay, clipValue, clipNorm, ftrl ? beta : 0, ftrl ? l1 : 0, ftrl ? l2 : 0);
  }

  /** Returns plain SGD at a constant rate. */
  public static OptimizerSpec sgd(double rate) {
    return new OptimizerSpec(Kind.SGD, LearningRate.constant(rate), 0, false, 0, 0, 0, 0, 0, 0, 0);
  }

  public static OptimizerSpec momentum(double rate, float momentum, boolean nesterov) {
    return new OptimizerSpec(Kind.MOMENTUM, LearningRate.constant(rate), momentum, nesterov, 0, 0, 0, 0, 0, 0, 0);
  }

  public static OptimizerSpec adagrad(double rate) {
    return new OptimizerSpec(Kind.ADAGRAD, LearningRate.constant(rate), 0, false, 0, 0, 1e-6f, 0, 0, 0, 0);
  }

  /** Returns FTRL-Proximal at alpha = {@code rate}, with n from 0. */
  public static OptimizerSpec ftrl(double rate, float beta, float l1, float l2) {
    return new OptimizerSpec(Kind.FTRL, LearningRate.constant(rate), 0, false, 0, 0, 0, 0, 0, 0, 0, beta, l1, l2);
  }

  public static OptimizerSpec adam(double rate) {
    return new OptimizerSpec(Kind.ADAM, LearningRate.constant(rate), 0, false, 0.9f, 0.999f, 1e-8f, 0, 0, 0, 0);
  }
}
