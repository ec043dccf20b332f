package io.regatta.trainer.config;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.optim.LearningRate;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.node.settings.Setting;
import io.regatta.node.settings.Settings;

/** An optimizer section ({@code optimizer}, {@code sparse_optimizer}) of a job file. See {@link OptimizerSpec}. */
public record OptimizerConfig(
    @Setting(value = "auto", doc = "Update rule. auto: sgd; in sparse_optimizer: everything as in optimizer. naive is "
        + "Paddle's name for sgd with neither decay nor clipping, which it refuses.")
    Kind kind,

    @Setting(value = "0.01", doc = "Learning rate that the schedule starts from.")
    double learningRate,

    @Setting(value = "false", doc = "Rates are for one replica, and multiplied by the number of replicas of all trainers "
        + "(linear scaling): with it a job keeps its batch_size and its rates when it gets more trainers. The rate that a "
        + "warm-up begins with stays.")
    boolean linearScaling,

    @Setting(doc = "How the learning rate changes over steps.")
    ScheduleConfig schedule,

    @Setting(value = "0.9", doc = "momentum: factor of the velocity.")
    double momentum,

    @Setting(value = "false", doc = "momentum: Nesterov's form.")
    boolean nesterov,

    @Setting(value = "0.9", doc = "adam: decay of the first moment.")
    double beta1,

    @Setting(value = "0.999", doc = "adam: decay of the second moment.")
    double beta2,

    @Setting(value = "0", doc = "adagrad, adam: added to the denominator. 0: the rule's own, adagrad 1e-6, adam 1e-8.")
    double epsilon,

    @Setting(value = "0", doc = "adagrad, ftrl: what the accumulators (ftrl: n) start with.")
    double initialAccumulator,

    @Setting(value = "0", doc = "L2 term: gradient += weight_decay * weight, after clipping by value.")
    double weightDecay,

    @Setting(value = "0", doc = "Limit of each element of a gradient, on the server. 0: off.")
    double clipValue,

    @Setting(value = "0", doc = "Limit of the L2 norm of each variable's gradient, in the trainer before it is sent. "
        + "0: off.")
    double clipNorm,

    @Setting(value = "1", doc = "ftrl: beta, beside the learning rate as alpha.")
    double beta,

    @Setting(value = "0", doc = "ftrl: weight of the L1 norm, which makes weights exactly 0.")
    double l1,

    @Setting(value = "0", doc = "ftrl: weight of the squared L2 norm as in the paper: half of what TensorFlow and Paddle "
        + "call l2.")
    double l2) {

  /** Update rules, and AUTO for no choice. */
  public enum Kind { AUTO, SGD, NAIVE, MOMENTUM, ADAGRAD, ADAM, FTRL }

  public OptimizerConfig {
    atLeastZero("learning_rate", learningRate);
    atLeastZero("momentum", momentum);
    atLeastZero("epsilon", epsilon);
    atLeastZero("initial_accumulator", initialAccumulator);
    atLeastZero("weight_decay", weightDecay);
    atLeastZero("clip_value", clipValue);
    atLeastZero("clip_norm", clipNorm);
    atLeastZero("beta", beta);
    atLeastZero("l1", l1);
    atLeastZero("l2", l2);
    if (kind == Kind.NAIVE && weightDecay + clipValue + clipNorm > 0) {
      throw new InvalidInput("kind: naive is sgd without weight_decay, clip_value and clip_norm; take these out, or choose "
          + "kind: sgd");
    }
    if (!(beta1 >= 0 && beta1 < 1 && beta2 >= 0 && beta2 < 1)) {
      throw new InvalidInput("beta1 and beta2 must be at least 0 and less than 1, not " + beta1 + " and " + beta2);
    }
  }

  private static void atLeastZero(String key, double value) {
    if (!(value >= 0) || Double.isInfinite(value)) {
      throw new InvalidInput(key + " must be a number of at least 0, not " + value);
    }
  }

  /** Returns the section for sparse tables: their own, or the dense one if no kind was chosen. */
  static OptimizerConfig sparse(OptimizerConfig own, OptimizerConfig dense) {
    if (own.kind() != Kind.AUTO) {
      return own;
    }
    if (!own.equals(Settings.defaults(OptimizerConfig.class))) {
      throw new InvalidInput("sparse_optimizer: give kind too (sgd, naive, momentum, adagrad, adam or ftrl); without it everything "
          + "in the section is taken from optimizer");
    }
    return dense;
  }

  /** Returns {@link #toSpec(int)} for one replica. */
  public OptimizerSpec toSpec() {
    return toSpec(1);
  }

  /**
   * Returns the optimizer as core's value, which is sent to the servers.
   *
   * @param replicas of all trainers, for linear scaling
   */
  public OptimizerSpec toSpec(int replicas) {
    OptimizerSpec.Kind rule = switch (kind) {
      case AUTO, NAIVE, SGD -> OptimizerSpec.Kind.SGD;
      case MOMENTUM -> OptimizerSpec.Kind.MOMENTUM;
      case ADAGRAD -> OptimizerSpec.Kind.ADAGRAD;
      case ADAM -> OptimizerSpec.Kind.ADAM;
      case FTRL -> OptimizerSpec.Kind.FTRL;
    };
    double eps = epsilon > 0 ? epsilon
        : switch (rule) {
          case ADAGRAD -> 1e-6;
          case ADAM -> 1e-8;
          case SGD, MOMENTUM, FTRL -> 0;
        };
    LearningRate rate = schedule.toSpec(learningRate);
    return new OptimizerSpec(rule, linearScaling ? rate.times(replicas) : rate, (float) momentum, nesterov, (float) beta1,
        (float) beta2, (float) eps, (float) initialAccumulator, (float) weightDecay, (float) clipValue,
        (float) clipNorm, (float) beta, (float) l1, (float) l2);
  }
}
