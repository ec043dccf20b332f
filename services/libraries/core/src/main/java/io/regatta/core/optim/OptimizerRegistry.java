package io.regatta.core.optim;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.List;
import java.util.stream.Stream;

/** The list of all optimizers: one line for each. Immutable, any thread. */
public final class OptimizerRegistry {

  private static final List<OptimizerType> ALL = Stream.of(
      Sgd.class,
      Momentum.class,
      Adagrad.class,
      Adam.class,
      Ftrl.class,
      Lamb.class,
      Lars.class)
      .map(OptimizerType::new).toList();

  private OptimizerRegistry() {}

  /** Returns all optimizers, in the order of the reference page. */
  public static List<OptimizerType> all() {
    return ALL;
  }

  /** Returns the names of all optimizers. */
  public static List<String> names() {
    return ALL.stream().map(OptimizerType::name).toList();
  }

  /**
   * Returns the optimizer with this name.
   *
   * @throws InvalidInput if there is none, with the names that there are
   */
  public static OptimizerType named(String name) {
    return ALL.stream().filter(type -> type.name().equals(name)).findFirst()
        .orElseThrow(() -> new InvalidInput("optimizer '" + name + "' is unknown; choose one of " + names()));
  }

  static OptimizerType of(Optimizer optimizer) {
    for (OptimizerType type : ALL) {
      if (type.holds(optimizer)) {
        return type;
      }
    }
    throw new InvalidInput(optimizer.getClass().getName() + " is not in the registry of optimizers; add it there");
  }
}
