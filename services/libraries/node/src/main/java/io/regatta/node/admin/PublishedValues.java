package io.regatta.node.admin;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * Immutable values by group and name, which one thread publishes one by one and any thread reads, e.g. a {@link SampleFamilies.Source}
 * at a scrape. A reader sees each value as it was last published; values of different names may be of different moments.
 *
 * @param <V> immutable
 */
public final class PublishedValues<V> {

  private final Map<String, Map<String, V>> groups = new ConcurrentHashMap<>();

  /** Returns the value of a name, or null. */
  public V get(String group, String name) {
    Map<String, V> values = groups.get(group);
    return values == null ? null : values.get(name);
  }

  /** Publishes the value of a name in place of the one before. */
  public void put(String group, String name, V value) {
    groups.computeIfAbsent(group, g -> new ConcurrentHashMap<>()).put(name, value);
  }

  /** Withdraws the values of a group. */
  public void remove(String group) {
    groups.remove(group);
  }

  /** Withdraws the values of all other groups. */
  public void retain(Set<String> there) {
    groups.keySet().retainAll(there);
  }

  /** Shows each value to a reader. */
  public void forEach(Consumer<V> reader) {
    groups.values().forEach(values -> values.values().forEach(reader));
  }
}
