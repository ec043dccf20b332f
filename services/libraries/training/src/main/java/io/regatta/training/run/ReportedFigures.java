package io.regatta.training.run;

import io.regatta.training.result.EvaluationRecord;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The metrics that a program has reported, the last value of each key. Belongs to the model thread. */
final class ReportedFigures {

  private static final Logger LOG = LoggerFactory.getLogger(ReportedFigures.class);

  private final Map<String, Double> values = new LinkedHashMap<>();
  /** Steps made when a key was last reported. */
  private final Map<String, Long> stepsReported = new HashMap<>();
  private final List<EvaluationRecord> evaluations = new ArrayList<>();

  /**
   * Sets a metric; NaN does not replace a value that was reported at the same step.
   *
   * @param steps that have been made
   * @param trainer for messages, e.g. {@code trainer 0 of job lenet}
   */
  void report(String key, double value, long steps, String trainer) {
    if (Double.isNaN(value)) {
      if (values.containsKey(key) && stepsReported.get(key) == steps) {
        return; // the mean of a pass without steps, after max_steps
      }
      LOG.warn("{}: the program reported {} as not a number (NaN) after {} steps; if that is the mean of an epoch after max_steps, "
          + "which has no batches, keep the value of the last epoch that had some", trainer, key, steps);
    }
    values.put(key, value);
    stepsReported.put(key, steps);
  }

  /** Adds an evaluation. */
  void evaluated(EvaluationRecord evaluation) {
    evaluations.add(evaluation);
  }

  /** Returns the evaluations, in their order. */
  List<EvaluationRecord> evaluations() {
    return evaluations;
  }

  Map<String, Double> values() {
    return values;
  }
}
