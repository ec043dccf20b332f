package io.regatta.core.optim;

import java.util.Map;
import java.util.Objects;

/**
 * The optimizer of a table, or of all dense variables, with everything that each update needs: a value that is part of
 * the configuration and of the registration of a trainer.
 *
 * @param optimizer the update rule with its hyperparameters
 * @param learningRate schedule, evaluated at the step of the round (sync) or of the push (other modes)
 * @param weightDecay L2 term: gradient += weightDecay · weight, after clipping by value, unless the rule says otherwise
 * @param clipValue each gradient element is limited to ±clipValue; 0: off. Applied at the shard
 * @param clipNorm each variable's (or table batch's) gradient is scaled to at most this L2 norm; 0: off. Applied by the
 *     trainer over whole tensors before the push ({@link GradientClipping}), so it does not depend on the number of
 *     shards
 */
public record OptimizerSpec(Optimizer optimizer, LearningRate learningRate, float weightDecay, float clipValue,
    float clipNorm) {

  public OptimizerSpec {
    Objects.requireNonNull(optimizer, "optimizer");
    Objects.requireNonNull(learningRate, "learningRate");
    OptimizerType type = OptimizerRegistry.of(optimizer);
    type.check(optimizer);
    SpecCheck check = SpecCheck.of("optimizer", type.name());
    check.notNegative("weight_decay", weightDecay);
    check.notNegative("clip_value", clipValue);
    check.notNegative("clip_norm", clipNorm);
  }

  /** Returns an optimizer at a constant rate, without decay and clipping. */
  public static OptimizerSpec of(Optimizer optimizer, double rate) {
    return of(optimizer, LearningRate.constant(rate));
  }

  /** Returns an optimizer with a schedule, without decay and clipping. */
  public static OptimizerSpec of(Optimizer optimizer, LearningRate rate) {
    return new OptimizerSpec(optimizer, rate, 0, 0, 0);
  }

  /**
   * Returns the optimizer with this name and its default hyperparameters, at a constant rate.
   *
   * @param name as in a job file, for example {@code adam}
   */
  public static OptimizerSpec of(String name, double rate) {
    return of(OptimizerRegistry.named(name).defaults(), rate);
  }

  /** Returns plain SGD at a constant rate. */
  public static OptimizerSpec sgd(double rate) {
    return of(new Sgd(), rate);
  }

  /** Returns the same optimizer with another weight decay. */
  public OptimizerSpec decayed(double decay) {
    return new OptimizerSpec(optimizer, learningRate, (float) decay, clipValue, clipNorm);
  }

  /** Returns the same optimizer without what the kind of its schedule does not use: two of the same effect are equal. */
  public OptimizerSpec used() {
    LearningRate rate = learningRate.used();
    return rate.equals(learningRate) ? this : new OptimizerSpec(optimizer, rate, weightDecay, clipValue, clipNorm);
  }

  /** Returns the optimizer's name, for example {@code adam}. */
  public String name() {
    return OptimizerRegistry.of(optimizer).name();
  }

  /** Returns true if an update needs norms over whole tensors, so that no variable may be cut over shards. */
  public boolean needsWholeTensors() {
    return optimizer instanceof TensorwiseOptimizer;
  }

  /** Returns the optimizer's hyperparameters by key. */
  public Map<String, Object> hyperparameters() {
    return OptimizerRegistry.of(optimizer).values(optimizer);
  }

  /**
   * Returns what all elements of one update have in common.
   *
   * @param rate learning rate of this update
   * @param updates number of updates so far, this one included
   */
  public UpdateStep step(float rate, long updates) {
    return new UpdateStep(rate, updates, clipValue > 0 ? clipValue : Float.POSITIVE_INFINITY, weightDecay);
  }
}
