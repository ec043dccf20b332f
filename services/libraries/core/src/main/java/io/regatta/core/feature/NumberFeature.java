package io.regatta.core.feature;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.List;

/**
 * A column of numbers, as a float: clipped to [low, high], transformed, then scaled. Immutable.
 *
 * @param fill number in place of a missing one, clipped, transformed and scaled as others are; NaN: the float 0
 * @param low least number; negative infinity: any
 * @param high greatest number; infinity: any
 * @param power exponent of {@link Transform#POWER}
 */
public record NumberFeature(String name, String column, Missing missing, double fill, double low, double high,
    Transform transform, double power, Scale scale) implements Feature {

  /** A function of the clipped number x. */
  public enum Transform {
    NONE,
    /** {@code sign(x) · log(1 + |x|)}. */
    LOG,
    /** {@code sign(x) · |x|^power}. */
    POWER
  }

  /** A scale by the statistics of the transformed number y. A deviation or range of 0 gives 0. */
  public enum Scale {
    NONE,
    /** {@code (y − mean) / deviation}. */
    STANDARD,
    /** {@code (y − min) / (max − min)}. */
    MIN_MAX
  }

  public NumberFeature {
    Names.check("the feature", name);
    if (!(low <= high)) {
      throw new InvalidInput("the feature " + name + " is clipped to [" + low + ", " + high + "]: the first must be the lower");
    }
    if (transform == Transform.POWER && !(power > 0 && power < Double.POSITIVE_INFINITY)) {
      throw new InvalidInput("the feature " + name + " has the power " + power + ": it must be positive and finite");
    }
    if (Double.isInfinite(fill)) {
      throw new InvalidInput("the feature " + name + " fills missing values with " + fill + ": give a finite number");
    }
  }

  @Override
  public List<String> columns() {
    return List.of(column);
  }
}
