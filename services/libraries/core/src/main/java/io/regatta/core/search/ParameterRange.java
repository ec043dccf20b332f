package io.regatta.core.search;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.hash.Mix64;
import java.util.List;

/**
 * The values of a hyperparameter among which a search chooses. A value is a function of a seed, the number of the trial
 * and the parameter's name, so that a search that is continued draws as one that was not stopped. Immutable.
 *
 * @param from least value; with {@code values} not used
 * @param to greatest value
 * @param logarithmic true: the logarithm is uniform; false: the value is
 * @param whole true: only whole numbers
 * @param values one of these, with equal probability; empty: a number of the range
 */
public record ParameterRange(double from, double to, boolean logarithmic, boolean whole, List<Object> values) {

  private static final double UNIT = 0x1p-53;
  private static final int UNUSED_BITS = 11;

  public ParameterRange {
    values = List.copyOf(values);
    if (values.isEmpty() && !(from < to)) {
      throw new InvalidInput("from must be less than to, not " + from + " and " + to);
    }
    if (values.isEmpty() && logarithmic && from <= 0) {
      throw new InvalidInput("from must be more than 0 with scale: log, not " + from);
    }
  }

  /** Returns the value of a trial: a whole number as a Long, another number as a Double, or one of the values. */
  public Object draw(long seed, int trial, String name) {
    return at((Mix64.mix(Mix64.mix(seed + Mix64.GOLDEN * (trial + 1L)) ^ Mix64.text(name)) >>> UNUSED_BITS) * UNIT);
  }

  /**
   * Returns the value at a share of the range.
   *
   * @param share from 0 to less than 1
   */
  public Object at(double share) {
    if (!values.isEmpty()) {
      return values.get((int) (share * values.size()));
    }
    double end = whole ? to + 1 : to;
    double value = logarithmic ? from * Math.pow(end / from, share) : from + share * (end - from);
    if (whole) {
      return (long) Math.min(to, Math.floor(value));
    }
    return value;
  }
}
