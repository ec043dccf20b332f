package io.regatta.training.config;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.optim.Hyperparameter.Range;
import io.regatta.core.optim.LearningRate;
import io.regatta.core.optim.Optimizer;
import io.regatta.core.optim.OptimizerRegistry;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.optim.OptimizerType;
import io.regatta.core.optim.OptimizerType.Parameter;
import io.regatta.node.settings.Inline;
import io.regatta.node.settings.OneOf;
import io.regatta.node.settings.Setting;
import io.regatta.node.settings.Settings;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * An optimizer section ({@code optimizer}, {@code sparse_optimizer}) of a job file. The optimizers and their keys are
 * those of core's registry.
 *
 * @param kind name of the optimizer, {@value #AUTO} or {@value #NAIVE}
 * @param hyperparameters keys of optimizers that were given; those of another kind than this are checked, and not used
 */
public record OptimizerConfig(
    @OneOf(Names.class)
    @Setting(value = AUTO, doc = "Update rule. auto: sgd; in sparse_optimizer: everything as in optimizer. naive is "
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

    @Inline(Hyperparameters.class)
    Map<String, Object> hyperparameters,

    @Setting(value = "0", doc = "L2 term: gradient += weight_decay * weight, after clipping by value; a rule that decays "
        + "weights elsewhere says so.")
    double weightDecay,

    @Setting(value = "0", doc = "Limit of each element of a gradient, on the server. 0: off.")
    double clipValue,

    @Setting(value = "0", doc = "Limit of the L2 norm of each variable's gradient, in the trainer before it is sent. "
        + "0: off.")
    double clipNorm) {

  private static final String AUTO = "auto";
  private static final String NAIVE = "naive";
  private static final String SGD = "sgd";

  /** The words of {@code kind}. */
  static final class Names implements Supplier<List<String>> {

    @Override
    public List<String> get() {
      List<String> words = new ArrayList<>(List.of(AUTO, NAIVE));
      words.addAll(OptimizerRegistry.names());
      return words;
    }
  }

  /** The keys of all optimizers' hyperparameters. */
  static final class Hyperparameters implements Inline.Source {

    /** Returns each key once; where optimizers have different defaults, the default is 0, which means their own. */
    @Override
    public List<Inline.InlineKey> keys() {
      Set<String> names = new LinkedHashSet<>();
      OptimizerRegistry.all().forEach(type -> type.parameters().forEach(p -> names.add(p.key())));
      return names.stream().map(Hyperparameters::key).toList();
    }

    private static Inline.InlineKey key(String name) {
      Map<OptimizerType, Parameter> having = having(name);
      Set<String> defaults = new LinkedHashSet<>();
      StringBuilder doc = new StringBuilder();
      having.forEach((type, p) -> {
        defaults.add(p.defaultText());
        doc.append(doc.isEmpty() ? "" : " ").append(type.name()).append(": ").append(p.doc());
      });
      return new Inline.InlineKey(name, having.values().iterator().next().isFlag() ? boolean.class : double.class,
          defaults.size() == 1 ? defaults.iterator().next() : "0", doc.toString());
    }
  }

  public OptimizerConfig {
    atLeastZero("learning_rate", learningRate);
    atLeastZero("weight_decay", weightDecay);
    atLeastZero("clip_value", clipValue);
    atLeastZero("clip_norm", clipNorm);
    hyperparameters = Map.copyOf(hyperparameters);
    if (kind.equals(NAIVE) && weightDecay + clipValue + clipNorm > 0) {
      throw new InvalidInput("kind: naive is sgd without weight_decay, clip_value and clip_norm; take these out, or choose "
          + "kind: sgd");
    }
    for (Map.Entry<String, Object> h : hyperparameters.entrySet()) {
      OptimizerType type = having(h.getKey()).keySet().iterator().next();
      optimizer(type, Map.of(h.getKey(), h.getValue()));
    }
    optimizer(type(kind), hyperparameters);
  }

  private static void atLeastZero(String key, double value) {
    if (!(value >= 0) || Double.isInfinite(value)) {
      throw new InvalidInput(key + " must be a number of at least 0, not " + value);
    }
  }

  /** Returns the optimizers that have a hyperparameter of this key, with it. */
  private static Map<OptimizerType, Parameter> having(String key) {
    Map<OptimizerType, Parameter> having = new LinkedHashMap<>();
    OptimizerRegistry.all().forEach(type -> type.parameters().stream().filter(p -> p.key().equals(key))
        .forEach(p -> having.put(type, p)));
    return having;
  }

  private static OptimizerType type(String kind) {
    return OptimizerRegistry.named(kind.equals(AUTO) || kind.equals(NAIVE) ? SGD : kind);
  }

  /** Makes an optimizer of those values that it has; 0 means the default of what must be above 0. */
  private static Optimizer optimizer(OptimizerType type, Map<String, Object> given) {
    Map<String, Object> values = new LinkedHashMap<>();
    for (Parameter p : type.parameters()) {
      Object value = given.get(p.key());
      if (value != null && !(p.range() == Range.POSITIVE && value.equals(0.0))) {
        values.put(p.key(), value);
      }
    }
    return type.of(values);
  }

  /** Returns true if a kind was chosen. */
  public boolean isChosen() {
    return !kind.equals(AUTO);
  }

  /** Returns of a job file's two sections the one for sparse tables: its own, or the other if no kind was chosen. */
  static OptimizerConfig sparse(OptimizerConfig own, OptimizerConfig dense) {
    if (own.isChosen()) {
      return own;
    }
    if (!own.equals(Settings.defaults(OptimizerConfig.class))) {
      throw new InvalidInput("sparse_optimizer: give kind too (" + String.join(", ", new Names().get().subList(1,
          new Names().get().size())) + "); without it everything in the section is taken from optimizer");
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
    LearningRate rate = schedule.toSpec(learningRate);
    return new OptimizerSpec(optimizer(type(kind), hyperparameters), linearScaling ? rate.times(replicas) : rate,
        (float) weightDecay, (float) clipValue, (float) clipNorm);
  }
}
