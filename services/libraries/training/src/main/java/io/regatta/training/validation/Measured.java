package io.regatta.training.validation;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Metrics of some rows, over all replicas of all trainers. Immutable.
 *
 * @param metrics by name, in their order
 * @param positives rows of the positive class; NaN if there is none
 * @param negatives other rows; NaN if there is no positive class
 */
public record Measured(Map<String, Double> metrics, double positives, double negatives) {

  public Measured {
    metrics = Collections.unmodifiableMap(new LinkedHashMap<>(metrics));
  }
}
