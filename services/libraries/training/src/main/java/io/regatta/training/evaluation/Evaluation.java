package io.regatta.training.evaluation;

import io.regatta.core.progress.Progress;
import io.regatta.data.Layout;
import io.regatta.training.config.EvaluationConfig;
import java.util.List;
import java.util.function.ObjDoubleConsumer;

/** All configured metrics of one evaluation on test data. Not thread-safe; one owner. */
public final class Evaluation {

  private final List<EvaluationMetric> metrics;

  /**
   * Creates an evaluation of no predictions.
   *
   * @throws io.regatta.core.error.RegattaException.InvalidInput if the examples do not have what a metric needs
   */
  public Evaluation(EvaluationConfig config, Layout layout) {
    metrics = EvaluationMetrics.create(config, layout);
  }

  /** Adds the predictions of a batch. */
  public void add(Predictions batch) {
    metrics.forEach(metric -> metric.add(batch));
  }

  /** Merges the predictions of all replicas, which must all call it, once. */
  public void merge(Ranks ranks) {
    metrics.forEach(metric -> metric.merge(ranks));
  }

  /** Passes each metric's name and value to a consumer. */
  public void report(ObjDoubleConsumer<String> report) {
    metrics.forEach(metric -> metric.values().forEach(value -> report.accept(value.name(), value.value())));
  }

  /** Shows the main metrics on a progress display. */
  public void show(Progress progress) {
    metrics.forEach(metric -> metric.values().stream().filter(EvaluationMetric.Value::shown)
        .forEach(value -> progress.metric(value.name(), value.value())));
  }
}
