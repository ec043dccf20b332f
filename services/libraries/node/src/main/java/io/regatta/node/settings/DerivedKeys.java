package io.regatta.node.settings;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.List;

/**
 * Keys of a section that are not components of its record, because another definition has them. Stands on a component of
 * type {@code Map<String, Object>}, which gets the values that were given, by key: doubles and booleans. The keys stand
 * beside those of the other components. A page of their own documents them.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface DerivedKeys {

  /** Source of the keys; it has a constructor without arguments. */
  Class<? extends Source> value();

  /** A source of keys. */
  interface Source {

    /** Returns the keys, always the same. */
    List<DerivedKey> keys();
  }

  /**
   * A key.
   *
   * @param name in snake_case
   * @param type double or boolean
   * @param defaultValue the default, written as on the command line
   * @param doc what the key means
   */
  record DerivedKey(String name, Class<?> type, String defaultValue, String doc) {}
}
