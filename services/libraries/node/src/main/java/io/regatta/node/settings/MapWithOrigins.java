package io.regatta.node.settings;

import java.util.AbstractMap;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * A map of a configuration that keeps the sources of its entries, for later messages. Equal to any map of the same
 * entries. Immutable, any thread.
 */
final class MapWithOrigins extends AbstractMap<String, Object> {

  private final Map<String, Object> entries;
  private final Function<String, String> origin;

  /** @param origin of a path within the map; gives null if unknown */
  MapWithOrigins(Map<String, Object> entries, Function<String, String> origin) {
    this.entries = Collections.unmodifiableMap(new LinkedHashMap<>(entries));
    this.origin = origin;
  }

  /** Returns the source of a map's key, or of one below it; null if it is not known. */
  static String origin(Map<String, ?> map, String path) {
    return map instanceof MapWithOrigins given ? given.origin.apply(path) : null;
  }

  @Override
  public Set<Entry<String, Object>> entrySet() {
    return entries.entrySet();
  }
}
