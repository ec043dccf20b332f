package io.regatta.core.optim;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.Locale;

/**
 * A check of the values of a specification, which names it, the configuration key, the value and what is expected. Any
 * thread.
 *
 * @param subject such as {@code optimizer adam}
 */
record SpecCheck(String subject) {

  static SpecCheck of(String what, Enum<?> kind) {
    return new SpecCheck(what + " " + kind.name().toLowerCase(Locale.ROOT));
  }

  void notNegative(String key, double value) {
    require(value >= 0 && Double.isFinite(value), key, value, "a finite number, 0 or more");
  }

  void positive(String key, double value) {
    require(value > 0 && Double.isFinite(value), key, value, "a finite number above 0");
  }

  /** Requires a decay factor, below 1: 1 would never forget. */
  void fraction(String key, double value) {
    require(value >= 0 && value < 1, key, value, "0 or more and below 1");
  }

  void atLeastOne(String key, long value) {
    require(value >= 1, key, value, "at least 1");
  }

  void require(boolean ok, String key, Object value, String expected) {
    if (!ok) {
      throw new InvalidInput(subject + ": " + key + " is " + value + ", it must be " + expected);
    }
  }
}
