package io.regatta.core.optim;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.Objects;

/**
 * Which optimizer a table uses, as a value that travels in configuration and in the registration of a trainer.
 * Fields that a kind does not use are ignored by it.
 *
 * @param kind the update rule
 * @param learningRate schedule, evaluated at the step of the round (sync) or of the push (other modes)
 * @param momentum factor of {@code MOMENTUM}
 * @param nesterov look-ahead form of {@code MOMENTUM}
 * @param beta1 first-moment decay of {@code ADAM}
 * @param beta2 second-moment decay of {@code ADAM}
 * @param epsilon added to the denominator of {@code ADAGRAD} and {@code ADAM}
 * @param initialAccumulator start of {@code ADAGRAD}'s accumulator
 * @param weightDecay L2 term: gradient += weightDecay · weight, after clipping by value
 * @param clipValue each gradient element is limited to ±clipValue; 0: off. Applied at the shard
 * @param clipNorm each variable's (or table batch's) gradient is scaled to at most this L2 norm; 0: off. Applied by
 *     the trainer over whole tensors before the push ({@link GradientClipping}), so it does not depend on the number
 *     of shards
 */
public record OptimizerSpec(Kind kind, LearningRate learningRate, float momentum, boolean nesterov, float beta1,
    float beta2, float epsilon, float initialAccumulator, float weightDecay, float clipValue, float clipNorm) {

  /** Update rules. Names as in the configuration, lower case there. */
  public enum Kind { SGD, MOMENTUM, ADAGRAD, ADAM }

  public OptimizerSpec {
    Objects.requireNonNull(kind, "kind");
    Objects.requireNonNull(learningRate, "learningRate");
    requireNotNegative("weight_decay", weightDecay);
    requireNotNegative("clip_value", clipValue);
    requireNotNegative("clip_norm", clipNorm);
    switch (kind) {
      case SGD -> { }
      case MOMENTUM -> requireFraction("momentum", momentum);
      case ADAGRAD -> {
        requirePositive("epsilon", epsilon);
        requireNotNegative("initial_accumulator", initialAccumulator);
      }
      case ADAM -> {
        requireFraction("beta1", beta1);
        requireFraction("beta2", beta2);
        requirePositive("epsilon", epsilon);
      }
    }
  }

  /** Plain SGD at a constant rate. */
  public static OptimizerSpec sgd(double rate) {
    return new OptimizerSpec(Kind.SGD, LearningRate.constant(rate), 0, false, 0, 0, 0, 0, 0, 0, 0);
  }

  public static OptimizerSpec momentum(double rate, float momentum, boolean nesterov) {
    return new OptimizerSpec(Kind.MOMENTUM, LearningRate.constant(rate), momentum, nesterov, 0, 0, 0, 0, 0, 0, 0);
  }

  public static OptimizerSpec adagrad(double rate) {
    return new OptimizerSpec(Kind.ADAGRAD, LearningRate.constant(rate), 0, false, 0, 0, 1e-6f, 0, 0, 0, 0);
  }

  public static OptimizerSpec adam(double rate) {
    return new OptimizerSpec(Kind.ADAM, LearningRate.constant(rate), 0, false, 0.9f, 0.999f, 1e-8f, 0, 0, 0, 0);
  }

  private void requireNotNegative(String key, float value) {
    require(value >= 0 && Float.isFinite(value), key, value, "a finite number, 0 or more");
  }

  private void requirePositive(String key, float value) {
    require(value > 0 && Float.isFinite(value), key, value, "a finite number above 0");
  }

  private void requireFraction(String key, float value) {
    require(value >= 0 && value < 1, key, value, "0 or more and below 1");
  }

  private void require(boolean ok, String key, float value, String expected) {
    if (!ok) {
      throw new InvalidInput("optimizer " + kind + ": " + key + " is " + value + ", it must be " + expected);
    }
  }
}
