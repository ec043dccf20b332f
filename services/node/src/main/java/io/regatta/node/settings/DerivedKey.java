package io.regatta.node.settings;

import java.util.List;
import java.util.function.Supplier;

/**
 * A key of a section that follows from something else than a component of the section's record. A component of type
 * {@code Map<String, Object>} with {@link Setting#keys} takes the values of such keys by name.
 *
 * @param name in snake_case
 * @param type double.class or boolean.class
 * @param value default, written as on the command line
 * @param doc what the key means
 */
public record DerivedKey(String name, Class<?> type, String value, String doc) {

  /** No derived keys: what {@link Setting#keys} is unless it is given. */
  public static final class None implements Supplier<List<DerivedKey>> {
    @Override
    public List<DerivedKey> get() {
      return List.of();
    }
  }

  /** No choices: what {@link Setting#choices} is unless it is given. */
  public static final class AnyText implements Supplier<List<String>> {
    @Override
    public List<String> get() {
      return List.of();
    }
  }
}
