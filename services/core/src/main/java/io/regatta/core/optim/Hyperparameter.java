package io.regatta.core.optim;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * One hyperparameter of an optimizer: stands on a {@code float} or {@code boolean} component of its record. The
 * component's name in snake_case is the key of a job file and the name on the wire. {@link Definition} reads it.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface Hyperparameter {

  /** Default, as a number or {@code true}; absent: 0 or {@code false}. */
  String value() default "0";

  /** Values that are possible. */
  Range range() default Range.NOT_NEGATIVE;

  /** Meaning, which continues "adam: ", without a full stop. */
  String doc();
}
