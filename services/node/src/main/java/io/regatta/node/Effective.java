package io.regatta.node;

import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The configuration that a process runs with: merged values, and for each key where its value came from. Made by
 * {@link Settings#load}; immutable, any thread.
 */
public final class Effective {

  /** One key: its value as text (JSON for lists and maps) and its source, {@code default} if nobody gave it. */
  public record Line(String key, String value, String origin) {
    @Override
    public String toString() {
      return key + " = " + value + "  (" + origin + ")";
    }
  }

  private final Schema schema;
  private final JsonObject values;
  private final Map<String, String> origins;

  Effective(Schema schema, JsonObject values, Map<String, String> origins) {
    this.schema = schema;
    this.values = values;
    this.origins = new LinkedHashMap<>(origins);
  }

  /** The merged values, without defaults. */
  public JsonObject values() {
    return values.copy();
  }

  /** Where the key's value came from: a file, a variable, a property, {@code --set}, code; {@code default} otherwise. */
  public String origin(String key) {
    for (String at = key; at != null; at = parent(at)) {
      String origin = origins.get(at);
      if (origin != null) {
        return origin;
      }
    }
    return "default";
  }

  private static String parent(String key) {
    int end = Math.max(key.lastIndexOf('.'), key.lastIndexOf('['));
    return end < 0 ? null : key.substring(0, end);
  }

  /** The root as a record; the schema must be that record's. */
  public <R extends Record> R bind(Class<R> type) {
    return type.cast(new SettingsBinder(schema, this::origin).bind(values));
  }

  /** All sections of the root, constructed and checked. */
  public Map<String, Object> bindSections() {
    return new SettingsBinder(schema, this::origin).bindSections(values);
  }

  /** Every known key with its effective value and source, in the schema's order. */
  public List<Line> lines() {
    List<Line> lines = new ArrayList<>();
    for (Schema.Entry entry : schema.describe()) {
      Object at = values;
      for (String segment : entry.key().split("\\.")) {
        at = at instanceof JsonObject object ? object.getValue(segment) : null;
      }
      lines.add(at == null
          ? new Line(entry.key(), entry.defaultValue(), "default")
          : new Line(entry.key(), at.toString(), origin(entry.key())));
    }
    return lines;
  }
}
