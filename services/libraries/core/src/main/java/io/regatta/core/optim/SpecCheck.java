package io.regatta.core.optim;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.optim.Hyperparameter.Range;

/**
 * A check of the values of a specification, which names it, the configuration key, the value and what is expected. Any
 * thread.
 *
 * @param subject such as {@code optimizer adam}
 */
record SpecCheck(String subject) {

  static SpecCheck of(String what, String kind) {
    return new SpecCheck(what + " " + kind);
  }

  void notNegative(String key, double value) {
    within(Range.NOT_NEGATIVE, key, value);
  }

  void positive(String key, double value) {
    within(Range.POSITIVE, key, value);
  }

  void within(Range range, String key, double value) {
    require(range.holds(value), key, value, range.words());
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
