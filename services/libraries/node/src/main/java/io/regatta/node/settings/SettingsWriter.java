package io.regatta.node.settings;

import io.regatta.node.settings.Schema.Key;
import io.regatta.node.settings.Schema.Leaf;
import io.regatta.node.settings.Schema.ListOf;
import io.regatta.node.settings.Schema.MapOf;
import io.regatta.node.settings.Schema.Section;
import io.regatta.node.settings.Schema.Shape;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The converter of configuration records into JSON, the reverse of {@link Settings#bind}: a record that is bound to its
 * JSON equals it. Secrets are left out. Stateless, any thread.
 */
public final class SettingsWriter {

  private static final SettingsBinder DEFAULTS = new SettingsBinder(null, key -> null, null);

  private SettingsWriter() {}

  /** Returns the keys of a record that differ from their defaults, and those that have none. */
  public static JsonObject json(Record record) {
    return json(Schema.of(record.getClass()).root(), record);
  }

  /** Returns the records of a map by their names, in the order of the map. */
  public static JsonObject json(Map<String, ? extends Record> records) {
    JsonObject json = new JsonObject();
    records.forEach((name, record) -> json.put(name, json(record)));
    return json;
  }

  private static JsonObject json(Section section, Record record) {
    JsonObject json = new JsonObject();
    section.keys().forEach((name, key) -> {
      Object value = component(record, name);
      if (!key.inline()) {
        put(json, key, value);
      } else if (value instanceof Record inside) {
        json((Section) key.shape(), inside).forEach(entry -> json.put(entry.getKey(), entry.getValue()));
      } else {
        ((Map<?, ?>) value).forEach((given, of) -> json.put(given.toString(), plain(of)));
      }
    });
    return json;
  }

  private static Object component(Record record, String name) {
    RecordComponent component = Arrays.stream(record.getClass().getRecordComponents())
        .filter(each -> Schema.snake(each.getName()).equals(name)).findFirst().orElseThrow();
    try {
      Method accessor = component.getAccessor();
      accessor.setAccessible(true);
      return accessor.invoke(record);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("cannot read " + record.getClass().getName() + "." + component.getName(), e);
    }
  }

  private static void put(JsonObject json, Key key, Object value) {
    if (key.shape() instanceof Section nested) {
      JsonObject inside = json(nested, (Record) value);
      if (!inside.isEmpty()) {
        json.put(key.name(), inside);
      }
    } else if (value != null && !(value instanceof Secret) && !isDefault(key, value)) {
      json.put(key.name(), written(key.shape(), value));
    }
  }

  private static boolean isDefault(Key key, Object value) {
    boolean without = key.required() || key.defaultText().isEmpty() && key.shape() instanceof Leaf leaf
        && leaf.type() != String.class && leaf.type() != Path.class;
    return !without && Objects.equals(DEFAULTS.defaultValue(key, key.name()), value);
  }

  private static Object written(Shape shape, Object value) {
    if (shape instanceof Section section) {
      return json(section, (Record) value);
    }
    if (shape instanceof MapOf map) {
      JsonObject json = new JsonObject();
      entries(value).forEach(e -> json.put(e.getKey().toString(), written(map.value(), e.getValue())));
      return json;
    }
    if (shape instanceof ListOf list) {
      JsonArray json = new JsonArray();
      ((Iterable<?>) value).forEach(element -> json.add(written(list.element(), element)));
      return json;
    }
    return plain(value);
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  private static Iterable<Map.Entry<?, ?>> entries(Object value) {
    return value instanceof JsonObject json ? (Iterable) json.getMap().entrySet() : (Iterable) ((Map) value).entrySet();
  }

  /** Returns a value as JSON holds it; numbers that JSON has not, as text. */
  private static Object plain(Object value) {
    if (value instanceof Enum<?> word) {
      return Schema.enumText(word);
    }
    if (value instanceof Map<?, ?> map) {
      JsonObject json = new JsonObject();
      map.forEach((key, of) -> json.put(key.toString(), plain(of)));
      return json;
    }
    if (value instanceof List<?> list) {
      JsonArray json = new JsonArray();
      list.forEach(element -> json.add(plain(element)));
      return json;
    }
    return value instanceof Path || value instanceof Double number && !Double.isFinite(number)
        || value instanceof Float small && !Float.isFinite(small) ? value.toString() : value;
  }
}
