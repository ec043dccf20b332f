package io.regatta.core.optim;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The registry of optimizers: one line for each, the record that defines it. Any thread. Everything else that knows
 * optimizers by name asks here.
 */
public final class Optimizers {

  private static final List<Definition> ALL = Stream.of(
      Sgd.class,
      Momentum.class,
      Adagrad.class,
      Adam.class,
      Ftrl.class).map(Definition::new).toList();

  private Optimizers() {}

  /** Returns the definitions of all optimizers. */
  public static List<Definition> all() {
    return ALL;
  }

  /** Returns the names of all optimizers. */
  public static List<String> names() {
    return ALL.stream().map(Definition::name).toList();
  }

  /** Returns the definition with this name, if there is one. */
  public static Optional<Definition> find(String name) {
    return ALL.stream().filter(d -> d.name().equals(name)).findFirst();
  }

  /**
   * Returns the definition with this name.
   *
   * @throws InvalidInput with the names that there are
   */
  public static Definition get(String name) {
    return find(name).orElseThrow(() -> new InvalidInput("optimizer.kind is '" + name + "' but must be one of " + names()));
  }

  /** Returns the definition of an optimizer. */
  public static Definition of(Optimizer optimizer) {
    return ALL.stream().filter(d -> d.defines(optimizer)).findFirst()
        .orElseThrow(() -> new IllegalArgumentException(optimizer.getClass() + " is not in the list of " + Optimizers.class));
  }
}
