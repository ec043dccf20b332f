package io.regatta.node.settings;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * One key of the configuration: stands on a component of a configuration record. The component's name in snake_case is
 * the key; its type is the key's type. {@link Settings#describe(Class)} lists the keys of a record from these.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface Setting {

  /**
   * The default, written as on the command line. Empty: the empty string, list or map; for a nested record its own
   * defaults; a number, boolean or enum without a default must be given.
   */
  String value() default "";

  /** Unit of the value (s, ms, bytes, ...), empty if it has none. */
  String unit() default "";

  /** True if the key must be given although its type has an empty default. */
  boolean required() default false;

  /** The meaning of the key, its range, and the behaviour at a limit. */
  String doc();
}
