package io.regatta.training.evaluation;

import java.util.List;

/**
 * One metric, or several from the same sums, of predictions on test data. {@link EvaluationMetrics} creates it. Not
 * thread-safe; one owner.
 */
interface EvaluationMetric {

  /**
   * The value of a metric.
   *
   * @param name key of the result
   * @param shown true if the progress display shows it, too
   */
  record Value(String name, double value, boolean shown) {}

  /** Adds the predictions of a batch. */
  void add(Predictions batch);

  /**
   * Replaces this replica's predictions by those of all replicas, exactly: the values become those of one process that
   * has seen all predictions. All replicas must call it, once, after the last batch.
   */
  void merge(Ranks ranks);

  /** Returns the values; without {@link #merge}, those of this instance alone. */
  List<Value> values();
}
