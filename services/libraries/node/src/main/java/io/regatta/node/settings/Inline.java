package io.regatta.node.settings;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.List;

/**
 * A component whose keys stand beside those of the record that holds it, instead of in a section of their own. It is one
 * of these:
 *
 * <ul>
 *   <li>a record: its components are the keys. If a key is not given, the record gets its default.
 *   <li>a {@code Map<String, Object>}, with a source of keys that another definition has. It gets the values that were
 *       given, by key: numbers and booleans. A page of their own documents these keys.
 * </ul>
 *
 * <p>Several such components may have the same key, of the same type. A value that is given is that of all of them.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface Inline {

  /** Source of a map's keys; it has a constructor without arguments. */
  Class<? extends Source> value() default NoSource.class;

  /** A source of keys. */
  interface Source {

    /** Returns the keys, always the same. */
    List<InlineKey> keys();
  }

  /**
   * A key of a map.
   *
   * @param name in snake_case
   * @param type of a number, or boolean
   * @param defaultValue the default, written as on the command line
   * @param doc what the key means
   */
  record InlineKey(String name, Class<?> type, String defaultValue, String doc) {}

  /** The source of a record, whose components are its keys. */
  final class NoSource implements Source {

    @Override
    public List<InlineKey> keys() {
      return List.of();
    }
  }
}
