package io.regatta.node.settings;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.lang.reflect.WildcardType;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The shape of a configuration, read from records and their {@link Setting} annotations. Immutable, any thread.
 */
public final class Schema {

  /** The shape of a key's value. */
  sealed interface Shape {}

  /**
   * A nested record, or (type null) the root of several sections or the keys of an {@link Inline} map.
   *
   * @param written the keys that a file can give here by their names, those of inline components included
   */
  record Section(Class<? extends Record> type, Map<String, Key> keys, Map<String, List<Key>> written) implements Shape {

    Section(Class<? extends Record> type, Map<String, Key> keys) {
      this(type, keys, written(keys));
    }

    private static Map<String, List<Key>> written(Map<String, Key> keys) {
      Map<String, List<Key>> written = new LinkedHashMap<>();
      for (Key key : keys.values()) {
        if (key.inline()) {
          ((Section) key.shape()).written
              .forEach((name, of) -> written.computeIfAbsent(name, n -> new ArrayList<>()).addAll(of));
        } else {
          written.computeIfAbsent(key.name(), n -> new ArrayList<>()).add(key);
        }
      }
      return written;
    }

    /** Returns the shape of a key, or null if there is no such key. */
    Shape shape(String name) {
      List<Key> of = written.get(name);
      return of == null ? null : of.get(0).shape();
    }
  }

  record ListOf(Shape element) implements Shape {}

  record MapOf(Shape value) implements Shape {}

  /**
   * A number, boolean, string, secret, enum, path; {@code Object.class}: anything.
   *
   * @param words that a string can be; empty: any
   */
  record Leaf(Class<?> type, List<String> words) implements Shape {
    Leaf(Class<?> type) {
      this(type, List.of());
    }
  }

  /**
   * A key of a section.
   *
   * @param holder name of the record that has it, in snake case
   * @param inline true for a section whose own keys stand in its place
   * @param ofMap true for a key of an inline map, which has no value if none is given
   */
  record Key(String name, String holder, String defaultText, String unit, boolean required, String doc, Shape shape,
      boolean inline, boolean ofMap) {

    static Key of(String name, String holder, Setting setting, Shape shape, boolean inline) {
      return setting == null ? new Key(name, holder, "", "", false, "", shape, inline, false)
          : new Key(name, holder, setting.value(), setting.unit(), setting.required(), setting.doc(), shape, inline, false);
    }

    static Key ofMap(Inline.InlineKey key, String holder) {
      return new Key(key.name(), holder, key.defaultValue(), "", false, key.doc(), new Leaf(key.type()), false, true);
    }
  }

  /**
   * One line of documentation.
   *
   * @param key dotted path; {@code []} stands for a list's element, {@code <name>} for a map's key
   * @param derived true if it is a key of an {@link Inline} map, or its words are those of a {@link OneOf}
   */
  public record Entry(String key, String type, String unit, String defaultValue, boolean required, String doc,
      boolean derived) {

    boolean isSecret() {
      return type.equals(typeName(new Leaf(Secret.class)));
    }
  }

  private final Section root;
  private final Schema other;

  private Schema(Section root, Schema other) {
    this.root = root;
    this.other = other;
  }

  /** Returns the schema of one record. */
  public static Schema of(Class<? extends Record> type) {
    return new Schema(section(type), null);
  }

  /**
   * Returns the schema of a root whose keys are the given sections, for example {@code node} and
   * {@code parameter_server}.
   */
  public static Schema sections(Map<String, Class<? extends Record>> sections) {
    Map<String, Key> keys = new LinkedHashMap<>();
    sections.forEach((name, type) -> keys.put(name, Key.of(name, "", null, section(type), false)));
    return new Schema(new Section(null, keys), null);
  }

  /**
   * Returns the schema of a process that also reads another schema: names of its keys are accepted here, and have no
   * effect.
   */
  public Schema beside(Schema another) {
    return new Schema(root, another);
  }

  /** Returns paths of the keys that this process reads elsewhere. */
  List<String> otherPaths() {
    return other == null ? List.of() : other.paths();
  }

  /** Returns true if the process reads this key elsewhere. */
  boolean elsewhere(List<String> path) {
    return other != null && other.find(path).isPresent();
  }

  Section root() {
    return root;
  }

  /** Returns the shape under a dotted path, or empty if there is no such key. */
  Optional<Shape> find(List<String> path) {
    Shape at = root;
    for (String segment : path) {
      if (at instanceof Section s) {
        at = s.shape(segment);
        if (at == null) {
          return Optional.empty();
        }
      } else if (at instanceof MapOf m) {
        at = m.value();
      } else if (!(at instanceof Leaf leaf && leaf.type() == Object.class)) {
        return Optional.empty();
      }
    }
    return Optional.of(at);
  }

  /** Returns true if a value of this shape may hold a secret: messages do not repeat it then. */
  static boolean mayHoldSecret(Shape shape) {
    if (shape instanceof Section section) {
      return section.keys().values().stream().anyMatch(key -> mayHoldSecret(key.shape()));
    }
    return shape instanceof ListOf list ? mayHoldSecret(list.element())
        : shape instanceof MapOf map ? mayHoldSecret(map.value()) : ((Leaf) shape).type() == Secret.class;
  }

  /** Returns all paths that can be given from outside, sections and maps included; no list elements, no map keys. */
  List<String> paths() {
    List<String> out = new ArrayList<>();
    paths(root, "", out);
    return out;
  }

  private static void paths(Section section, String prefix, List<String> out) {
    for (String name : section.written().keySet()) {
      out.add(prefix + name);
      if (section.shape(name) instanceof Section nested) {
        paths(nested, prefix + name + ".", out);
      }
    }
  }

  /** Returns all leaf keys with their documentation, in declaration order. */
  public List<Entry> describe() {
    List<Entry> out = new ArrayList<>();
    describe(root, "", out);
    return out;
  }

  private static void describe(Section section, String prefix, List<Entry> out) {
    for (List<Key> keys : section.written().values()) {
      Key key = keys.get(0);
      String path = prefix + key.name();
      Shape shape = key.shape();
      if (shape instanceof Section nested) {
        describe(nested, path + ".", out);
      } else if (shape instanceof ListOf list && list.element() instanceof Section element) {
        describe(element, path + "[].", out);
      } else if (shape instanceof MapOf map && map.value() instanceof Section value) {
        describe(value, path + ".<name>.", out);
      } else {
        boolean bare = shape instanceof Leaf leaf && leaf.type() != String.class && leaf.type() != Object.class
            && leaf.type() != Secret.class;
        boolean required = key.required() || bare && key.defaultText().isEmpty();
        out.add(new Entry(path, typeName(shape), key.unit(), defaults(keys), required, docs(keys),
            key.ofMap() || shape instanceof Leaf leaf && !leaf.words().isEmpty()));
      }
    }
  }

  /** Returns the default of a key; where the records that have it differ, that of each. */
  private static String defaults(List<Key> keys) {
    return keys.stream().map(Key::defaultText).distinct().count() == 1 ? keys.get(0).defaultText()
        : keys.stream().map(key -> key.defaultText() + " (" + key.holder() + ")").collect(Collectors.joining(", "));
  }

  private static String docs(List<Key> keys) {
    return keys.stream().map(Key::doc).filter(doc -> !doc.isEmpty()).distinct().collect(Collectors.joining(" "));
  }

  static String typeName(Shape shape) {
    if (shape instanceof ListOf list) {
      return "list of " + typeName(list.element());
    }
    if (shape instanceof MapOf map) {
      return "map of " + typeName(map.value());
    }
    if (shape instanceof Section) {
      return "section";
    }
    Class<?> type = ((Leaf) shape).type();
    if (!((Leaf) shape).words().isEmpty()) {
      return String.join(" | ", ((Leaf) shape).words());
    }
    if (type.isEnum()) {
      List<String> names = new ArrayList<>();
      for (Object constant : type.getEnumConstants()) {
        names.add(enumText((Enum<?>) constant));
      }
      return String.join(" | ", names);
    }
    return type == Object.class ? "any" : type == Path.class ? "path" : type.getSimpleName().toLowerCase(Locale.ROOT);
  }

  /** Returns an enum constant as it is written in files: lower case, underscores. */
  static String enumText(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  private static Section section(Class<?> type) {
    Map<String, Key> keys = new LinkedHashMap<>();
    for (RecordComponent c : type.getRecordComponents()) {
      String name = snake(c.getName());
      String holder = snake(type.getSimpleName());
      Inline inline = c.getAnnotation(Inline.class);
      Shape shape = inline != null && c.getType() == Map.class ? mapKeys(inline, holder)
          : c.isAnnotationPresent(OneOf.class) ? new Leaf(String.class, made(c.getAnnotation(OneOf.class).value()).get())
          : shape(c.getGenericType(), type, c);
      keys.put(name, Key.of(name, holder, c.getAnnotation(Setting.class), shape, inline != null));
    }
    Section section = new Section(type.asSubclass(Record.class), keys);
    section.written().forEach((name, of) -> requireOneType(type, name, of));
    return section;
  }

  private static Section mapKeys(Inline inline, String holder) {
    Map<String, Key> keys = new LinkedHashMap<>();
    made(inline.value()).keys().forEach(key -> keys.put(key.name(), Key.ofMap(key, holder)));
    return new Section(null, keys);
  }

  private static void requireOneType(Class<?> type, String name, List<Key> of) {
    if (of.stream().map(Key::shape).distinct().count() > 1) {
      throw new IllegalArgumentException("key '" + name + "' of " + type.getName() + " has several types: "
          + of.stream().map(key -> typeName(key.shape()) + " in " + key.holder()).toList());
    }
  }

  private static <T> T made(Class<T> source) {
    try {
      Constructor<T> constructor = source.getDeclaredConstructor();
      constructor.setAccessible(true);
      return constructor.newInstance();
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(source.getName() + " must have a constructor without arguments", e);
    }
  }

  private static Shape shape(Type type, Class<?> owner, RecordComponent component) {
    if (type instanceof WildcardType) {
      return new Leaf(Object.class);
    }
    if (type instanceof ParameterizedType p) {
      if (p.getRawType() == List.class) {
        return new ListOf(shape(p.getActualTypeArguments()[0], owner, component));
      }
      if (p.getRawType() == Map.class && p.getActualTypeArguments()[0] == String.class) {
        return new MapOf(shape(p.getActualTypeArguments()[1], owner, component));
      }
    } else if (type instanceof Class<?> boxed) {
      Class<?> c = MethodType.methodType(boxed).unwrap().returnType();
      if (c.isRecord()) {
        return section(c);
      }
      if (c == JsonObject.class) {
        return new MapOf(new Leaf(Object.class));
      }
      if (c == JsonArray.class) {
        return new ListOf(new Leaf(Object.class));
      }
      if (c.isEnum() || c == int.class || c == long.class || c == float.class || c == double.class
          || c == boolean.class || c == String.class || c == Secret.class || c == Path.class || c == Object.class) {
        return new Leaf(c);
      }
    }
    throw new IllegalArgumentException("a configuration record cannot have a component of type " + type.getTypeName()
        + ": " + owner.getName() + "." + component.getName());
  }

  /** Returns the values of a record by the keys that a file gives them, in the order in which they are declared. */
  static Map<String, Object> parts(Record record) {
    Map<String, Object> parts = new LinkedHashMap<>();
    for (RecordComponent component : record.getClass().getRecordComponents()) {
      try {
        Method accessor = component.getAccessor();
        accessor.setAccessible(true);
        if (component.isAnnotationPresent(Inline.class)) {
          Map<?, ?> inside = accessor.invoke(record) instanceof Map<?, ?> map ? map : parts((Record) accessor.invoke(record));
          inside.forEach((key, value) -> parts.putIfAbsent(key.toString(), value));
        } else {
          parts.put(snake(component.getName()), accessor.invoke(record));
        }
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException("cannot read " + record.getClass().getName() + "." + component.getName(), e);
      }
    }
    return parts;
  }

  /** {@code learningRate} → {@code learning_rate}. */
  static String snake(String camel) {
    StringBuilder b = new StringBuilder();
    for (int i = 0; i < camel.length(); i++) {
      char ch = camel.charAt(i);
      if (Character.isUpperCase(ch)) {
        b.append(i == 0 ? "" : "_").append(Character.toLowerCase(ch));
      } else {
        b.append(ch);
      }
    }
    return b.toString();
  }
}
