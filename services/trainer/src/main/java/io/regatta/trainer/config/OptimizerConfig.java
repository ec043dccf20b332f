package io.regatta.trainer.config;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.optim.Definition;
import io.regatta.core.optim.LearningRate;
import io.regatta.core.optim.Optimizer;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.optim.Regularization;
import io.regatta.node.settings.Setting;
import io.regatta.node.settings.Settings;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** An optimizer section ({@code optimizer}, {@code sparse_optimizer}) of a job file. See {@link OptimizerSpec}. */
public record OptimizerConfig(
    @Setting(value = "auto", choices = OptimizerKeys.Kinds.class, doc = "Update rule. auto: sgd; in sparse_optimizer: everything as in optimizer. naive is "
        + "Paddle's name for sgd with neither decay nor clipping, which it refuses.")
    String kind,

    @Setting(value = "0.01", doc = "Learning rate that the schedule starts from.")
    double learningRate,

    @Setting(value = "false", doc = "Rates are for one replica, and multiplied by the number of replicas of all trainers "
        + "(linear scaling): with it a job keeps its batch_size and its rates when it gets more trainers. The rate that a "
        + "warm-up begins with stays.")
    boolean linearScaling,

    @Setting(doc = "How the learning rate changes over steps.")
    ScheduleConfig schedule,

    @Setting(value = "0", doc = "Limit of the L2 norm of each variable's gradient, in the trainer before it is sent. "
        + "0: off.")
    double clipNorm,

    @Setting(keys = OptimizerKeys.class, doc = "Hyperparameters.")
    Map<String, Object> hyperparameters) {

  public OptimizerConfig {
    hyperparameters = Collections.unmodifiableMap(new LinkedHashMap<>(hyperparameters));
    atLeastZero("learning_rate", learningRate);
    atLeastZero("clip_norm", clipNorm);
    Optimizer made = rule(kind, hyperparameters);
    if (kind.equals(OptimizerKeys.NAIVE) && (clipNorm > 0 || !made.regularization().equals(Regularization.NONE))) {
      throw new InvalidInput("kind: naive is sgd without weight_decay, clip_value and clip_norm; take these out, or choose "
          + "kind: sgd");
    }
  }

  private static void atLeastZero(String key, double value) {
    if (!(value >= 0) || Double.isInfinite(value)) {
      throw new InvalidInput(key + " must be a number of at least 0, not " + value);
    }
  }

  /** Returns the optimizer of a kind; hyperparameters that it does not have are without effect. */
  private static Optimizer rule(String kind, Map<String, Object> given) {
    Definition definition = OptimizerKeys.definition(kind);
    Map<String, Double> values = new LinkedHashMap<>();
    for (Definition.Key key : definition.keys()) {
      double value = given.get(key.name()) instanceof Boolean on ? on ? 1 : 0 : (double) given.get(key.name());
      boolean own = value == 0 && !key.range().holds(0); // the rule's own
      values.put(key.name(), own ? key.value() : value);
    }
    return definition.of(values);
  }

  /** Returns true if the section names a kind. */
  public boolean isChosen() {
    return !kind.equals(OptimizerKeys.AUTO);
  }

  /** Of a job file's two sections the one for sparse tables: its own, or the other if no kind was chosen. */
  static OptimizerConfig sparse(OptimizerConfig own, OptimizerConfig dense) {
    if (own.isChosen()) {
      return own;
    }
    if (!own.equals(Settings.defaults(OptimizerConfig.class))) {
      throw new InvalidInput("sparse_optimizer: give kind too (" + String.join(", ", OptimizerKeys.chosen())
          + "); without it everything in the section is taken from optimizer");
    }
    return dense;
  }

  /** As {@link #toSpec(int)}, for one replica. */
  public OptimizerSpec toSpec() {
    return toSpec(1);
  }

  /**
   * The optimizer as core's value, the one that travels to the servers.
   *
   * @param replicas of all trainers, for linear scaling
   */
  public OptimizerSpec toSpec(int replicas) {
    LearningRate rate = schedule.toSpec(learningRate);
    return new OptimizerSpec(rule(kind, hyperparameters), linearScaling ? rate.times(replicas) : rate, (float) clipNorm);
  }
}
