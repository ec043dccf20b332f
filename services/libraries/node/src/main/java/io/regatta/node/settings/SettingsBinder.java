package io.regatta.node.settings;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.settings.Schema.Key;
import io.regatta.node.settings.Schema.Leaf;
import io.regatta.node.settings.Schema.ListOf;
import io.regatta.node.settings.Schema.MapOf;
import io.regatta.node.settings.Schema.Section;
import io.regatta.node.settings.Schema.Shape;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.RecordComponent;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.commons.text.similarity.LevenshteinDistance;

/**
 * The converter of JSON into configuration records. It reports a fault in one line: the key, the value, its source and
 * the expectation. Stateless apart from the lookup of sources; used on one thread.
 */
final class SettingsBinder {

  /** Shorter names resemble too many others. */
  private static final int SHORT = 4;

  private final Schema schema;
  private final Function<String, String> origin;
  private final Path file;
  private final Map<String, Object> decided;

  /**
   * @param origin source of a key's value, for messages; null if unknown
   * @param file that was read, for messages; null if there was none
   */
  SettingsBinder(Schema schema, Function<String, String> origin, Path file) {
    this(schema, origin, file, Map.of());
  }

  /** @param decided values of keys that are not looked up, by path; each as its record holds it */
  SettingsBinder(Schema schema, Function<String, String> origin, Path file, Map<String, Object> decided) {
    this.schema = schema;
    this.origin = origin;
    this.file = file;
    this.decided = decided;
  }

  /** Checks names and types of every key, without constructing the root; returns the root's sections by name. */
  Map<String, Object> bindSections(JsonObject json) {
    return bindKeys(schema.root(), json, "");
  }

  Record bind(JsonObject json) {
    return bind(json, "");
  }

  Record bind(JsonObject json, String prefix) {
    return construct(schema.root(), json, prefix);
  }

  /** Returns one section of the root. */
  Record bindSection(String name, JsonObject json) {
    return construct((Section) schema.root().keys().get(name).shape(), json, name + ".");
  }

  /** Returns the value of one key as its record would hold it, however it is written. */
  Object value(String path, Object raw) {
    return value(schema.find(List.of(path.split("\\."))).orElseThrow(), raw, path);
  }

  /** Checks the names of all keys, also in sections that are bound later or elsewhere. */
  void checkNames(JsonObject json) {
    List<InvalidInput> wrong = new ArrayList<>();
    checkNames(schema.root(), json, "", wrong);
    throwAll(wrong);
  }

  private void checkNames(Section section, JsonObject json, String prefix, List<InvalidInput> wrong) {
    wrong.addAll(unknown(section, json, prefix));
    for (String name : section.written().keySet()) {
      if (section.shape(name) instanceof Section nested && json.getValue(name) instanceof JsonObject below) {
        checkNames(nested, below, prefix + name + ".", wrong);
      }
    }
  }

  private Record construct(Section section, JsonObject json, String prefix) {
    return construct(section, bindKeys(section, json, prefix), json, prefix);
  }

  private Record construct(Section section, Map<String, Object> values, JsonObject json, String prefix) {
    RecordComponent[] components = section.type().getRecordComponents();
    Object[] arguments = Arrays.stream(components).map(c -> values.get(Schema.snake(c.getName()))).toArray();
    try {
      Constructor<? extends Record> constructor = section.type()
          .getDeclaredConstructor(Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new));
      constructor.setAccessible(true);
      return constructor.newInstance(convertRaw(arguments, components));
    } catch (InvocationTargetException e) {
      Throwable cause = e.getCause();
      if (cause instanceof IllegalArgumentException || cause instanceof RegattaException
          || cause instanceof NullPointerException) {
        String said = String.valueOf(cause.getMessage());
        String at = prefix.isEmpty() ? "" : "section '" + sectionName(prefix) + "': ";
        throw new InvalidInput(at + said + sources(section, json, prefix, said), cause);
      }
      throw new IllegalStateException("cannot construct " + section.type().getName(), cause);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("cannot construct " + section.type().getName(), e);
    }
  }

  private static String sectionName(String prefix) {
    return prefix.substring(0, prefix.length() - 1);
  }

  /** Returns the sources of the keys that a record's refusal names: as good a hint as that of a mistyped value. */
  private String sources(Section section, JsonObject json, String prefix, String refusal) {
    Map<String, String> named = new LinkedHashMap<>();
    for (String key : section.written().keySet()) {
      String from = json.getValue(key) == null ? null : origin.apply(prefix + key);
      if (from != null && refusal.matches("(?s)(.*\\W)?" + key + "(\\W.*)?")) {
        named.put(key, from);
      }
    }
    if (named.isEmpty()) {
      return "";
    }
    return Set.copyOf(named.values()).size() == 1 ? from(named.values().iterator().next())
        : named.entrySet().stream().map(e -> e.getKey() + ": " + e.getValue())
            .collect(Collectors.joining("; ", " (", ")"));
  }

  /** Converts components that are declared as JsonObject or JsonArray. */
  private static Object[] convertRaw(Object[] values, RecordComponent[] components) {
    for (int i = 0; i < values.length; i++) {
      if (components[i].getType() == JsonObject.class) {
        @SuppressWarnings("unchecked")
        Map<String, Object> map = (Map<String, Object>) values[i];
        values[i] = new JsonObject(new LinkedHashMap<>(map));
      } else if (components[i].getType() == JsonArray.class) {
        values[i] = new JsonArray(new ArrayList<>((List<?>) values[i]));
      }
    }
    return values;
  }

  /** Throws one error for all mistakes, numbered in one line, so that a file is mended once. Each is suppressed in it. */
  private static void throwAll(List<InvalidInput> wrong) {
    Map<String, InvalidInput> all = new LinkedHashMap<>(); // records that share a key find the same mistake
    wrong.forEach(e -> parts(e).forEach(one -> all.putIfAbsent(one.getMessage(), one)));
    List<InvalidInput> mistakes = List.copyOf(all.values());
    if (mistakes.size() == 1) {
      throw mistakes.get(0);
    }
    if (!mistakes.isEmpty()) {
      InvalidInput several = new InvalidInput(mistakes.size() + " mistakes in the configuration: "
          + IntStream.range(0, mistakes.size()).mapToObj(i -> "(" + (i + 1) + ") " + mistakes.get(i).getMessage())
              .collect(Collectors.joining("; ")));
      mistakes.forEach(several::addSuppressed);
      throw several;
    }
  }

  /** Returns the mistakes that an error is made of, or the error itself. */
  private static Stream<InvalidInput> parts(InvalidInput e) {
    return e.getSuppressed().length == 0 ? Stream.of(e)
        : Arrays.stream(e.getSuppressed()).map(InvalidInput.class::cast);
  }

  private List<InvalidInput> unknown(Section section, JsonObject json, String prefix) {
    List<InvalidInput> wrong = new ArrayList<>();
    Set<String> names = section.written().keySet();
    for (String name : json.fieldNames()) {
      if (!names.contains(name)) {
        List<String> known = new ArrayList<>(schema.paths());
        names.forEach(key -> known.add(prefix + key));
        wrong.add(section.keys().isEmpty() ? new InvalidInput("unknown key '" + prefix + name + "'"
            + from(origin.apply(prefix + name)) + ": there are no keys under '" + sectionName(prefix) + "'")
            : unknown(known, prefix + name, origin.apply(prefix + name)));
      }
    }
    return section.keys().isEmpty() && !wrong.isEmpty() ? List.of(wrong.get(0)) : wrong; // that there are no keys says enough
  }

  private Map<String, Object> bindKeys(Section section, JsonObject json, String prefix) {
    return bindKeys(section, json, prefix, unknown(section, json, prefix));
  }

  /** @param unknown what is wrong with the names of the keys in the JSON */
  private Map<String, Object> bindKeys(Section section, JsonObject json, String prefix, List<InvalidInput> unknown) {
    List<InvalidInput> wrong = new ArrayList<>(unknown);
    Map<String, Object> values = new LinkedHashMap<>();
    for (Key key : section.keys().values()) {
      String path = prefix + key.name();
      Object raw = json.getValue(key.name());
      if (raw == null && key.ofMap()) {
        continue;
      }
      try {
        values.put(key.name(), key.inline() ? inline((Section) key.shape(), json, prefix)
            : decided.containsKey(path) ? decided.get(path)
            : raw == null ? defaultValue(key, path) : value(key.shape(), raw, path));
      } catch (InvalidInput e) {
        wrong.add(e);
      }
    }
    throwAll(wrong);
    return values;
  }

  private Object inline(Section section, JsonObject json, String prefix) {
    Map<String, Object> values = bindKeys(section, json, prefix, List.of());
    return section.type() == null ? Collections.unmodifiableMap(values) : construct(section, values, json, prefix);
  }

  /** Returns the value of a key that is not given. */
  Object defaultValue(Key key, String path) {
    if (key.required()) {
      throw missing(path, key.shape());
    }
    String text = key.defaultText();
    if (key.shape() instanceof Section nested) {
      return construct(nested, new JsonObject(), path + ".");
    }
    if (key.shape() instanceof Leaf leaf && text.isEmpty()) {
      if (leaf.type() == String.class) {
        return "";
      }
      if (leaf.type() == Secret.class) {
        return Secret.NONE;
      }
      if (leaf.type() == Path.class) {
        return Path.of("");
      }
      if (leaf.type() == Object.class) {
        return null;
      }
      throw missing(path, key.shape());
    }
    return value(key.shape(), Settings.layerValue(key.shape(), text, path), path);
  }

  private InvalidInput missing(String path, Shape shape) {
    return new InvalidInput("key '" + path + "' is missing" + (file == null ? "" : " in file " + file)
        + ": give a value of type " + Schema.typeName(shape));
  }

  private Object value(Shape shape, Object raw, String path) {
    if (shape instanceof Section nested) {
      return construct(nested, object(raw, shape, path), path + ".");
    }
    if (shape instanceof MapOf map) {
      JsonObject json = object(raw, shape, path);
      Map<String, Object> out = new LinkedHashMap<>();
      for (String name : json.fieldNames()) {
        out.put(name, value(map.value(), json.getValue(name), path + "." + name));
      }
      return new MapWithOrigins(out, name -> origin.apply(path + "." + name));
    }
    if (shape instanceof ListOf list) {
      Object given = raw instanceof String text ? Settings.layerValue(shape, text, path) : raw;
      if (given instanceof Number || given instanceof Boolean) {
        given = JsonArray.of(given); // one element, as "settings.hidden=8" gives it
      }
      if (!(given instanceof JsonArray array)) {
        throw mistyped(shape, raw, path);
      }
      List<Object> out = new ArrayList<>();
      for (int i = 0; i < array.size(); i++) {
        out.add(value(list.element(), array.getValue(i), path + "[" + i + "]"));
      }
      return Collections.unmodifiableList(out);
    }
    return leaf((Leaf) shape, raw, path);
  }

  private JsonObject object(Object raw, Shape shape, String path) {
    Object given = raw instanceof String text ? Settings.layerValue(shape, text, path) : raw;
    if (given instanceof JsonObject json) {
      return json;
    }
    throw mistyped(shape, raw, path);
  }

  private Object leaf(Leaf leaf, Object raw, String path) {
    Class<?> type = leaf.type();
    if (type == Object.class) {
      return raw instanceof JsonObject o ? o.getMap() : raw instanceof JsonArray a ? a.getList() : raw;
    }
    if (type == Secret.class) {
      return secret(raw, path);
    }
    if (raw == null || raw instanceof JsonObject || raw instanceof JsonArray) {
      throw mistyped(leaf, raw, path);
    }
    String text = raw.toString().strip();
    if (!leaf.words().isEmpty()) {
      String word = text.toLowerCase(Locale.ROOT).replace('-', '_');
      if (!leaf.words().contains(word)) {
        throw mistyped(leaf, raw, path);
      }
      return word;
    }
    try {
      if (type == String.class) {
        return raw.toString();
      }
      if (type == Path.class) {
        return Path.of(raw.toString());
      }
      if (type == int.class) {
        return Integer.parseInt(text.replace("_", ""));
      }
      if (type == long.class) {
        return Long.parseLong(text.replace("_", ""));
      }
      if (type == double.class || type == float.class) {
        double d = Double.parseDouble(text);
        if (raw instanceof Boolean || (text.endsWith("d") || text.endsWith("f"))) {
          throw mistyped(leaf, raw, path);
        }
        return type == double.class ? (Object) d : (Object) (float) d;
      }
      if (type == boolean.class && (text.equals("true") || text.equals("false"))) {
        return text.equals("true");
      }
    } catch (IllegalArgumentException e) {
      throw mistyped(leaf, raw, path);
    }
    if (type.isEnum()) {
      for (Object constant : type.getEnumConstants()) {
        if (Schema.enumText((Enum<?>) constant).equalsIgnoreCase(text.replace('-', '_'))) {
          return constant;
        }
      }
    }
    throw mistyped(leaf, raw, path);
  }

  private Secret secret(Object raw, String path) {
    String from = origin.apply(path);
    if (from != null && (from.startsWith("--") || from.startsWith("system property"))) {
      throw new InvalidInput("key '" + path + "' (" + from + ") is a secret, and everybody on this machine can read command lines: "
          + "put it into a file, or into environment variable " + Variables.of(path));
    }
    if (raw instanceof JsonObject || raw instanceof JsonArray) {
      throw new InvalidInput("key '" + path + "': expected a text" + from(from));
    }
    if (raw.equals(Secret.MASK)) {
      throw new InvalidInput("key '" + path + "' is " + Secret.MASK + from(from) + ", which is shown in place of a secret: give the secret");
    }
    return new Secret(raw.toString());
  }

  private InvalidInput mistyped(Shape shape, Object raw, String path) {
    String shown = Schema.mayHoldSecret(shape) ? "what may hold a secret, and is not shown"
        : raw instanceof String ? "\"" + raw + "\"" : String.valueOf(raw);
    return new InvalidInput("key '" + path + "': expected " + Schema.typeName(shape) + ", got "
        + (shown.length() > 80 ? shown.substring(0, 77) + "..." : shown) + from(origin.apply(path)));
  }

  /**
   * Returns the error of an unknown key, with the nearest known one if one is near: by the whole path, or by the last
   * name anywhere.
   */
  static InvalidInput unknown(List<String> knownPaths, String path, String origin) {
    return new InvalidInput("unknown key '" + path + "'" + from(origin)
        + nearest(knownPaths, path).map(key -> "; the nearest known key is '" + key + "'").orElse(""));
  }

  /** Returns the known key that a user probably meant, if there is one. */
  static Optional<String> nearest(List<String> knownPaths, String path) {
    LevenshteinDistance distance = LevenshteinDistance.getDefaultInstance();
    String flat = path.replace('.', '_'); // variables have no dots
    ToIntFunction<String> slips = known -> Math.min(distance.apply(flat, known.replace('.', '_')),
        lastName(path).length() < SHORT ? Integer.MAX_VALUE : 1 + distance.apply(lastName(path), lastName(known)));
    return knownPaths.stream().min(Comparator.comparingInt(slips))
        .filter(known -> slips.applyAsInt(known) <= Math.max(1, path.length() / 3)
            || beginsAlike(flat, known.replace('.', '_')));
  }

  private static boolean beginsAlike(String one, String other) {
    return Math.min(one.length(), other.length()) >= SHORT && (one.startsWith(other) || other.startsWith(one));
  }

  private static String lastName(String path) {
    return path.substring(path.lastIndexOf('.') + 1);
  }

  private static String from(String origin) {
    return origin == null ? "" : " (" + origin + ")";
  }
}
