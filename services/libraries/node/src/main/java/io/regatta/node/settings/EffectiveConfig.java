package io.regatta.node.settings;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The configuration that a process runs with: merged values, and for each key the source of its value. Made by
 * {@link Settings#load}; immutable, any thread.
 */
public final class EffectiveConfig {

  /** One key: its value as text (JSON for lists and maps) and its source, {@code default} if none gave it. */
  public record Line(String key, String value, String origin) {
    @Override
    public String toString() {
      return key + " = " + value + "  (" + origin + ")";
    }
  }

  /**
   * A value that is decided outside of a section's own key, as the job decides how many shards its servers have.
   *
   * @param key within the section, dotted
   * @param value as the section's record holds it; a record decides each of its keys
   * @param by the source of the decision, for messages, e.g. {@code the job}
   */
  public record Dictated(String key, Object value, String by) {}

  private final Schema schema;
  private final JsonObject values;
  private final Map<String, String> origins;
  private final Path file;

  /** @param file the configuration file that was read, null if there was none */
  EffectiveConfig(Schema schema, JsonObject values, Map<String, String> origins, Path file) {
    this.schema = schema;
    this.values = values;
    this.origins = new LinkedHashMap<>(origins);
    this.file = file;
  }

  /** Returns the merged values, without defaults. */
  public JsonObject values() {
    return values.copy();
  }

  /** Returns the value that some source gives to a key, as text; null if none does. */
  public String text(String key) {
    Object given = at(key);
    return given == null ? null : given.toString();
  }

  /**
   * Returns the source of the key's value: a file, a variable, a property, {@code --set}, code; {@code default}
   * otherwise.
   */
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

  /** Returns the root as a record; the schema must be that record's. */
  public <R extends Record> R bind(Class<R> type) {
    return type.cast(new SettingsBinder(schema, this::origin, file).bind(values));
  }

  /** Returns all sections of the root, constructed and checked. */
  public Map<String, Object> bindSections() {
    return new SettingsBinder(schema, this::origin, file).bindSections(values);
  }

  /** Returns true if any source gives this key, or a key below it. */
  public boolean given(String key) {
    return at(key) != null;
  }

  /**
   * Checks the names of all keys of the root, not their values: for sections that are bound later, or not here.
   *
   * @throws InvalidInput for an unknown key, with the nearest known one
   */
  public EffectiveConfig checkNames() {
    new SettingsBinder(schema, this::origin, file).checkNames(values);
    return this;
  }

  /**
   * Returns one section of the root as a record, with dictated values put in.
   *
   * @throws InvalidInput as {@link Settings#bind}, and for a key that was given another value than the dictated one:
   *     one line with both and their sources
   */
  public <R extends Record> R bindSection(String name, Class<R> type, List<Dictated> dictated) {
    Map<String, Object> decided = new LinkedHashMap<>();
    dictated.forEach(d -> decided.put(name + "." + d.key(), d.value()));
    SettingsBinder binder = new SettingsBinder(schema, this::origin, file, decided);
    dictated.forEach(d -> requireSame(binder, name + "." + d.key(), at(name + "." + d.key()), d.value(), d.by()));
    return type.cast(binder.bindSection(name, at(name) instanceof JsonObject given ? given : new JsonObject()));
  }

  /** Refuses a key that some source gives another value than the one that is decided elsewhere. */
  private void requireSame(SettingsBinder binder, String path, Object given, Object decided, String by) {
    if (given instanceof JsonObject nested && decided instanceof Record record) {
      Map<String, Object> parts = Schema.parts(record);
      nested.forEach(part -> requireSame(binder, path + "." + part.getKey(), part.getValue(), parts.get(part.getKey()), by));
    } else if (given != null && !binder.value(path, given).equals(decided)) {
      throw new InvalidInput(path + " is " + given + " (" + origin(path) + "), but " + by + " says "
          + (decided instanceof Enum<?> word ? Schema.enumText(word) : decided) + ": leave " + path + " out, or say the same in both");
    }
  }

  private Object at(String key) {
    Object at = values;
    for (String segment : key.split("\\.")) {
      at = at instanceof JsonObject object ? object.getValue(segment) : null;
    }
    return at;
  }

  /** Returns every known key with its effective value and source, in the schema's order. */
  public List<Line> lines() {
    List<Line> lines = new ArrayList<>();
    for (Schema.Entry entry : schema.describe()) {
      Object at = at(entry.key());
      lines.add(at == null
          ? new Line(entry.key(), entry.defaultValue(), "default")
          : new Line(entry.key(), entry.isSecret() ? new Secret(at.toString()).toString() : at.toString(), origin(entry.key())));
    }
    return lines;
  }
}
