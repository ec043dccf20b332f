package io.regatta.node.settings;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.process.ServiceLogging;
import io.regatta.node.settings.Schema.Leaf;
import io.regatta.node.settings.Schema.ListOf;
import io.regatta.node.settings.Schema.MapOf;
import io.regatta.node.settings.Schema.Section;
import io.regatta.node.settings.Schema.Shape;
import io.soabase.recordbuilder.core.RecordBuilder;
import io.vertx.config.ConfigRetriever;
import io.vertx.config.ConfigRetrieverOptions;
import io.vertx.config.ConfigStoreOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * Reader of a process's configuration, through Vert.x Config, once. A later source takes precedence:
 * file &lt; others'
 * environment variables &lt; environment ({@code REGATTA_SECTION_KEY}) &lt; system properties
 * ({@code regatta.section.key}) &lt; command line ({@code --set section.key=value}, or an option that stands for a key)
 * &lt; code. Keys are the snake_case names of configuration records' components. Stateless, any thread; nothing blocks.
 */
public final class Settings {

  /**
   * The job's run id is one variable, {@code REGATTA_RUN_ID}, whether the job is a file of its own or a trainer's
   * section.
   */
  private static final String RUN_ID = "run_id";
  private static final String TRAINERS_RUN_ID = "trainer.job.run_id";

  /**
   * An option of a command line that stands for a key.
   *
   * @param name as it is typed, e.g. {@code --servers}: messages use it
   */
  public record Option(String name, String key, String value) {}

  /**
   * The sources of a configuration.
   *
   * @param file a .json, .yaml or .yml file, or null
   * @param variables keys that follow from environment variables of other systems, each under its variable's name;
   *     those of another schema are ignored
   * @param environment variables by name; those that do not start with {@code REGATTA_}, and {@link OtherNames}, are
   *     ignored
   * @param properties system properties by name; likewise with {@code regatta.}
   * @param options options of the command line that stand for keys
   * @param overrides {@code key=value} each, from the command line; they take precedence over the options
   * @param code values given by the program, nested as in a file
   * @param ignored top-level sections that belong to other services and are ignored
   * @param translation replaces keys of other systems in the file by those of the schema, in place
   */
  @RecordBuilder
  public record Sources(Path file, List<Option> variables, Map<String, String> environment, Map<String, String> properties,
      List<Option> options, List<String> overrides, JsonObject code, List<String> ignored, Consumer<JsonObject> translation)
      implements SettingsSourcesBuilder.With {

    /** Sources that give no value. */
    public static final Sources NONE =
        new Sources(null, List.of(), Map.of(), Map.of(), List.of(), List.of(), new JsonObject(), List.of(), file -> { });

    public Sources {
      variables = List.copyOf(variables);
      options = List.copyOf(options);
      environment = Map.copyOf(environment);
      properties = Map.copyOf(properties);
      overrides = List.copyOf(overrides);
      code = code == null ? new JsonObject() : code;
      ignored = List.copyOf(ignored);
    }

    /** Returns this process's environment and system properties, with the values of its command line. */
    public static Sources ofProcess(Path file, List<Option> options, List<String> overrides) {
      Map<String, String> properties = new LinkedHashMap<>();
      for (String name : System.getProperties().stringPropertyNames()) {
        if (name.startsWith("regatta.")) {
          properties.put(name, System.getProperty(name));
        }
      }
      return NONE.with(s -> s.file(file).environment(System.getenv())
         .properties(properties).options(options).overrides(overrides));
    }
  }

  private Settings() {}

  /** Returns true if the ending of a file's name shows that it is read here: a job, or a configuration. */
  public static boolean isFile(String name) {
    return ConfigFile.format(name).isPresent();
  }

  /**
   * Loads and merges the sources and checks every key's name.
   *
   * @return the effective configuration; fails with {@link InvalidInput} (one line: file, line and column, or key,
   *     value and source)
   */
  public static Future<EffectiveConfig> load(Vertx vertx, Schema schema, Sources sources) {
    return ConfigFile.read(vertx, sources.file()).compose(file -> {
      Map<String, String> origins = new LinkedHashMap<>();
      List<JsonObject> layers = new ArrayList<>();
      layers.add(file);
      sources.ignored().forEach(file::remove);
      sources.translation().accept(file);
      mark(file, "", "file " + sources.file(), origins);
      layers.add(options(schema, sources.variables().stream().filter(v -> schema.find(split(v.key())).isPresent()).toList(),
          origins));
      layers.add(environment(schema, sources, origins));
      layers.add(properties(schema, sources, origins));
      layers.add(options(schema, sources.options(), origins));
      layers.add(overrides(schema, sources.overrides(), origins));
      layers.add(sources.code());
      mark(sources.code(), "", "code", origins);
      return merge(vertx, layers).map(merged -> new EffectiveConfig(schema, merged, origins, sources.file()));
    });
  }

  /** Loads as {@link #load(Vertx, Schema, Sources)}, for one record as the root. */
  public static <R extends Record> Future<R> load(Vertx vertx, Class<R> type, Sources sources) {
    return load(vertx, Schema.of(type), sources).map(effective -> effective.bind(type));
  }

  /**
   * Makes a record from JSON. Missing keys get their defaults.
   *
   * @throws InvalidInput for an unknown key (with the nearest known one), a mistyped or missing value, or a record
   *     that refuses its values
   */
  public static <R extends Record> R bind(JsonObject json, Class<R> type) {
    return type.cast(new SettingsBinder(Schema.of(type), key -> null, null).bind(json));
  }

  /** Binds as {@link #bind(JsonObject, Class)}, for JSON that stands under a key, which messages name. */
  public static <R extends Record> R bind(JsonObject json, Class<R> type, String key) {
    return type.cast(new SettingsBinder(Schema.of(type), path -> null, null).bind(json, key + "."));
  }

  /** Binds a map of another record. Messages name the sources if the map was read from a configuration. */
  public static <R extends Record> R bind(Map<String, Object> map, Class<R> type, String key) {
    String prefix = key + ".";
    return type.cast(new SettingsBinder(Schema.of(type), path -> MapWithOrigins.origin(map, path.substring(prefix.length())), null)
        .bind(new JsonObject(new LinkedHashMap<>(map)), prefix));
  }

  /** Returns a record of defaults only. */
  public static <R extends Record> R defaults(Class<R> type) {
    return bind(new JsonObject(), type);
  }

  /** Returns the error for a key that is not among the known ones; it names the nearest, if one is near. */
  public static InvalidInput unknown(List<String> known, String key) {
    return SettingsBinder.unknown(known, key, null);
  }

  /** Returns the keys of a record with type, unit, default and meaning: the material of docs/configuration.md. */
  public static List<Schema.Entry> describe(Class<? extends Record> type) {
    return Schema.of(type).describe();
  }

  private static Future<JsonObject> merge(Vertx vertx, List<JsonObject> layers) {
    ConfigRetrieverOptions options = new ConfigRetrieverOptions().setIncludeDefaultStores(false).setScanPeriod(-1);
    for (JsonObject layer : layers) {
      options.addStore(new ConfigStoreOptions().setType("json").setConfig(layer));
    }
    ConfigRetriever retriever = ConfigRetriever.create(vertx, options);
    return retriever.getConfig().eventually(retriever::close);
  }

  private static void mark(JsonObject json, String prefix, String origin, Map<String, String> origins) {
    for (String name : json.fieldNames()) {
      origins.put(prefix + name, origin);
      if (json.getValue(name) instanceof JsonObject nested) {
        mark(nested, prefix + name + ".", origin, origins);
      }
    }
  }

  /**
   * Reads values of variables or properties by name. Keys of the schema are read, those of another reader ignored.
   *
   * @throws InvalidInput for a name that no reader knows: otherwise a typo would have no effect
   */
  private static JsonObject named(Schema schema, Named source, List<String> ignored, Map<String, String> origins) {
    JsonObject layer = new JsonObject();
    source.values().entrySet().stream().sorted(Map.Entry.comparingByKey()).forEach(entry -> {
      String name = entry.getKey();
      if (!name.startsWith(source.prefix()) || OtherNames.contains(name)) {
        return;
      }
      String origin = source.kind() + " " + name;
      String path = source.path().apply(name.substring(source.prefix().length()));
      if (schema.find(split(path)).isPresent()) {
        put(schema, layer, path, entry.getValue(), origin, origins);
      } else if (!schema.elsewhere(split(path)) && ignored.stream().noneMatch(section -> belongs(path, section))) {
        List<String> known = new ArrayList<>(schema.paths());
        known.addAll(schema.otherPaths());
        throw source.isEnvironment() ? Variables.unknown(known, path, name, entry.getValue())
            : SettingsBinder.unknown(known, path, origin);
      }
    });
    return layer;
  }

  /** Variables and properties: the prefix of their names, and the key that the rest of a name means. */
  private record Named(String kind, String prefix, Map<String, String> values, UnaryOperator<String> path) {
    boolean isEnvironment() {
      return prefix.equals(Variables.PREFIX);
    }
  }

  private static boolean belongs(String path, String section) {
    return path.equals(section) || path.startsWith(section + ".") || path.startsWith(section + "_");
  }

  private static JsonObject environment(Schema schema, Sources sources, Map<String, String> origins) {
    ServiceLogging.checkLevel(sources.environment());
    Map<String, String> paths = new LinkedHashMap<>();
    schema.otherPaths().forEach(path -> paths.put(path.replace('.', '_'), path));
    schema.paths().forEach(path -> paths.put(path.replace('.', '_'), path));
    paths.putIfAbsent(RUN_ID, TRAINERS_RUN_ID); // given to every process of a job, whichever its sections are
    return named(schema, new Named("environment variable", Variables.PREFIX, sources.environment(),
        name -> paths.getOrDefault(name.toLowerCase(Locale.ROOT), name.toLowerCase(Locale.ROOT))), sources.ignored(),
        origins);
  }

  private static JsonObject properties(Schema schema, Sources sources, Map<String, String> origins) {
    return named(schema, new Named("system property", "regatta.", sources.properties(), UnaryOperator.identity()),
        sources.ignored(), origins);
  }

  private static JsonObject options(Schema schema, List<Option> options, Map<String, String> origins) {
    JsonObject layer = new JsonObject();
    options.forEach(option -> put(schema, layer, option.key(), option.value(), option.name(), origins));
    return layer;
  }

  private static JsonObject overrides(Schema schema, List<String> overrides, Map<String, String> origins) {
    JsonObject layer = new JsonObject();
    for (String override : overrides) {
      int equals = override.indexOf('=');
      if (equals <= 0) {
        throw new InvalidInput("--set " + override.replaceFirst("(?s)[^\\w.].*", "...") // what follows may be a secret
            + ": write key=value, for example --set " + example(schema));
      }
      String path = override.substring(0, equals).strip();
      String origin = "--set " + path;
      if (schema.find(split(path)).isEmpty()) {
        throw SettingsBinder.unknown(schema.paths(), path, origin);
      }
      put(schema, layer, path, override.substring(equals + 1), origin, origins);
    }
    return layer;
  }

  /** Returns a key of this schema with a value that it may have. */
  private static String example(Schema schema) {
    return schema.describe().stream().filter(entry -> !entry.defaultValue().isEmpty())
        .min(Comparator.comparing(entry -> !entry.key().endsWith("admin.port")))
        .map(entry -> entry.key() + "=" + entry.defaultValue()).orElse("key=value");
  }

  private static void put(Schema schema, JsonObject layer, String path, String text, String origin,
      Map<String, String> origins) {
    List<String> segments = split(path);
    Shape shape = schema.find(segments).orElseThrow();
    if (shape instanceof Section && !text.strip().startsWith("{")) {
      throw new InvalidInput("key '" + path + "': expected section, got " + quoted(shape, text) + " (" + origin
          + "): give one of its keys, or JSON");
    }
    JsonObject at = layer;
    for (String segment : segments.subList(0, segments.size() - 1)) {
      if (!(at.getValue(segment) instanceof JsonObject)) {
        at.put(segment, new JsonObject());
      }
      at = at.getJsonObject(segment);
    }
    Object value = layerValue(shape, text, path);
    String last = segments.get(segments.size() - 1);
    if (value instanceof JsonObject object && at.getValue(last) instanceof JsonObject present) {
      present.mergeIn(object, true);
    } else {
      at.put(last, value);
    }
    origins.put(path, origin);
    if (value instanceof JsonObject object) {
      mark(object, path + ".", origin, origins);
    }
  }

  /**
   * Converts the text of a variable, property, {@code --set} or default to a JSON value. Lists are JSON or
   * comma-separated, maps are JSON or {@code name=value,...}, sections are JSON. Untyped values are JSON if they parse
   * as such. Numbers, booleans and enums stay text: the binder reads them by type.
   */
  static Object layerValue(Shape shape, String text, String path) {
    String trimmed = text.strip();
    try {
      if (shape instanceof ListOf list) {
        return trimmed.startsWith("[") ? new JsonArray(trimmed) : list(list, trimmed, path);
      }
      if (shape instanceof MapOf map) {
        return trimmed.startsWith("{") ? new JsonObject(trimmed) : map(map, trimmed, path);
      }
      if (shape instanceof Section) {
        return new JsonObject(trimmed);
      }
    } catch (DecodeException e) {
      throw new InvalidInput("key '" + path + "': expected " + Schema.typeName(shape) + ", got broken JSON: " + quoted(shape, text),
          Schema.mayHoldSecret(shape) ? null : e);
    }
    return shape instanceof Leaf leaf && leaf.type() == Object.class ? untyped(text) : text;
  }

  /** Returns a text for messages, unless it may be, or hold, a secret. */
  private static String quoted(Shape shape, String text) {
    return Schema.mayHoldSecret(shape) ? "a text that may hold a secret, and is not shown" : "\"" + text + "\"";
  }

  private static JsonArray list(ListOf list, String text, String path) {
    JsonArray array = new JsonArray();
    if (!text.isEmpty()) {
      Arrays.stream(text.split(",")).map(item -> layerValue(list.element(), item.strip(), path)).forEach(array::add);
    }
    return array;
  }

  private static JsonObject map(MapOf map, String text, String path) {
    JsonObject object = new JsonObject();
    if (!text.isEmpty()) {
      for (String item : text.split(",")) {
        int equals = item.indexOf('=');
        if (equals <= 0) {
          throw new InvalidInput("key '" + path + "': expected name=value,... or JSON, got " + quoted(map, text));
        }
        object.put(item.substring(0, equals).strip(),
            layerValue(map.value(), item.substring(equals + 1).strip(), path));
      }
    }
    return object;
  }

  private static Object untyped(String text) {
    try {
      return new JsonArray("[" + text + "]").size() == 1 ? new JsonArray("[" + text + "]").getValue(0) : text;
    } catch (DecodeException e) {
      return text;
    }
  }

  private static List<String> split(String path) {
    return Arrays.asList(path.split("\\."));
  }
}
