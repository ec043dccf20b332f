package io.regatta.core.feature;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.List;

/**
 * A column of numbers, as the id of the interval in which the number lies. The number of an interval is the number of
 * bounds ≤ x. Immutable.
 *
 * @param namespace seed of the ids
 * @param bounds strictly increasing; empty: from statistics
 * @param quantiles number of intervals that statistics give about equal shares of the rows; 0 if bounds are given
 */
public record BucketFeature(String name, String column, Missing missing, String namespace, List<Double> bounds, int quantiles)
    implements Feature {

  public BucketFeature {
    bounds = List.copyOf(bounds);
    Names.check("the feature", name);
    Names.check("the namespace", namespace);
    if (bounds.isEmpty() == (quantiles == 0) || quantiles < 0 || quantiles == 1) {
      throw new InvalidInput("the feature " + name + " has " + bounds.size() + " bounds and " + quantiles
          + " quantiles: give bounds, or 2 quantiles or more");
    }
    increasing(name, bounds);
  }

  static void increasing(String name, List<Double> bounds) {
    for (int i = 0; i < bounds.size(); i++) {
      Names.finite(name, "bound", bounds.get(i));
      if (i > 0 && bounds.get(i - 1) >= bounds.get(i)) {
        throw new InvalidInput("the feature " + name + " has the bound " + bounds.get(i) + " after " + bounds.get(i - 1)
            + ": bounds must increase");
      }
    }
  }

  @Override
  public List<String> columns() {
    return List.of(column);
  }
}
