package io.regatta.trainer.config;

import io.regatta.core.optim.Definition;
import io.regatta.core.optim.Optimizers;
import io.regatta.node.settings.DerivedKey;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The keys of an optimizer section that follow from the registry of optimizers: the hyperparameters of all of them, one
 * key for those of the same name. Stateless, any thread.
 */
public final class OptimizerKeys implements Supplier<List<DerivedKey>> {

  /** The kind that says that nothing was chosen. */
  static final String AUTO = "auto";
  /** Paddle's word for plain SGD. */
  static final String NAIVE = "naive";
  private static final String PLAIN = "sgd";

  /** Words that {@code kind} takes. */
  public static final class Kinds implements Supplier<List<String>> {
    @Override
    public List<String> get() {
      return Stream.concat(Stream.of(AUTO), chosen().stream()).toList();
    }
  }

  /** Returns the kinds that a job file may choose. */
  static List<String> chosen() {
    List<String> kinds = new ArrayList<>(Optimizers.names());
    kinds.add(kinds.indexOf(PLAIN) + 1, NAIVE);
    return kinds;
  }

  /** Returns the definition of a kind. */
  static Definition definition(String kind) {
    return Optimizers.get(kind.equals(AUTO) || kind.equals(NAIVE) ? PLAIN : kind);
  }

  @Override
  public List<DerivedKey> get() {
    Map<String, Map<String, Definition.Key>> byName = new LinkedHashMap<>();
    for (Definition d : Optimizers.all()) {
      d.keys().forEach(key -> byName.computeIfAbsent(key.name(), n -> new LinkedHashMap<>()).put(d.name(), key));
    }
    return byName.entrySet().stream().map(e -> derived(e.getKey(), e.getValue())).toList();
  }

  /** @param keys by the name of their optimizer */
  private static DerivedKey derived(String name, Map<String, Definition.Key> keys) {
    Definition.Key first = keys.values().iterator().next();
    Map<String, List<String>> optimizers = new LinkedHashMap<>();
    keys.forEach((optimizer, key) -> optimizers.computeIfAbsent(key.doc(), d -> new ArrayList<>()).add(optimizer));
    String doc = first.isCommon() ? first.doc().substring(0, 1).toUpperCase(java.util.Locale.ROOT) + first.doc().substring(1)
        : optimizers.entrySet().stream().map(e -> String.join(", ", e.getValue()) + ": " + e.getKey())
            .collect(Collectors.joining("; "));
    boolean same = keys.values().stream().allMatch(key -> key.value() == first.value());
    String own = same ? "" : " 0: the rule's own, " + keys.entrySet().stream()
        .map(e -> e.getKey() + " " + e.getValue().text(e.getValue().value())).collect(Collectors.joining(", ")) + ".";
    return new DerivedKey(name, first.isSwitch() ? boolean.class : double.class, same ? first.text(first.value()) : "0",
        doc + "." + own);
  }
}
