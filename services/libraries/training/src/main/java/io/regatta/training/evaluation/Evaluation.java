package io.regatta.training.evaluation;

import io.regatta.core.progress.Progress;
import io.regatta.data.Layout;
import io.regatta.training.config.EvaluationConfig;
import io.regatta.training.config.MetricsConfig;
import java.util.List;
import java.util.Optional;
import java.util.function.ObjDoubleConsumer;
import java.util.stream.IntStream;

/** All configured metrics of one evaluation on test data. Not thread-safe; one owner. */
public final class Evaluation {

  /**
   * The keys of examples that metrics need.
   *
   * @param group of labels of kind rank
   * @param item of users' and items' vectors, whose recall is measured in place of the label
   * @param gauc groups of the AUC by group
   * @param slices columns whose values have metrics of their own
   */
  public record Keys(Optional<KeyOfExamples> group, Optional<KeyOfExamples> item, Optional<KeyOfExamples> gauc, List<KeyOfExamples> slices) {

    public Keys {
      slices = List.copyOf(slices);
    }
  }

  private final List<ScoredLabel> labels;
  private final List<EvaluationMetric> metrics;

  /** Creates an evaluation of no predictions of declared labels. */
  public Evaluation(List<ScoredLabel> labels, Keys keys, MetricsConfig config) {
    this.labels = List.copyOf(labels);
    metrics = EvaluationMetrics.create(labels, keys, config);
  }

  /**
   * Creates an evaluation of no predictions.
   *
   * @throws io.regatta.core.error.RegattaException.InvalidInput if the examples do not have what a metric needs
   */
  public Evaluation(EvaluationConfig config, Layout layout) {
    labels = List.of(ScoredLabel.BINARY);
    metrics = EvaluationMetrics.create(config, layout);
  }

  /** Adds the predictions of a batch. */
  public void add(Predictions batch) {
    metrics.forEach(metric -> metric.add(batch));
  }

  /** Returns true if some example of a batch has none of its labels. */
  public boolean lacksLabels(Predictions batch) {
    return IntStream.range(0, batch.size()).anyMatch(example ->
        labels.stream().allMatch(label -> batch.isMissing(example, label.labelAt())));
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
