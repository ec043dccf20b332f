package io.regatta.core.optim;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A hyperparameter of an {@link Optimizer}: stands on a component, float or boolean, of its record. The component's name
 * in snake_case is the key in files and on the wire.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface Hyperparameter {

  /** The default, as in a file. */
  String value();

  /** The values of a float that are allowed. */
  Range range() default Range.NOT_NEGATIVE;

  /** Meaning, in the words of the reference page. */
  String doc();

  /** A range of values. */
  enum Range {
    /** 0 or more. */
    NOT_NEGATIVE("a finite number, 0 or more") {
      @Override
      boolean holds(double value) {
        return value >= 0 && Double.isFinite(value);
      }
    },
    /** Above 0. */
    POSITIVE("a finite number above 0") {
      @Override
      boolean holds(double value) {
        return value > 0 && Double.isFinite(value);
      }
    },
    /** A factor of decay: 1 would never forget. */
    FRACTION("0 or more and below 1") {
      @Override
      boolean holds(double value) {
        return value >= 0 && value < 1;
      }
    };

    private final String words;

    Range(String words) {
      this.words = words;
    }

    /** Returns true if a value is in this range. */
    abstract boolean holds(double value);

    /** Returns the range in words that continue "it must be". */
    public String words() {
      return words;
    }
  }
}
