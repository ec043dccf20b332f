package io.regatta.training.evaluation;

import io.regatta.data.Layout;
import io.regatta.training.config.EvaluationConfig;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;

/** The registry of metrics on test data. A new metric is a class and a line here. Stateless. */
final class EvaluationMetrics {

  /** The factories of all metrics, each of which returns an empty value if the configuration leaves the metric out. */
  private static final List<BiFunction<EvaluationConfig, Layout, Optional<EvaluationMetric>>> ALL = List.of(
      (config, layout) -> Optional.of(new BinaryEvaluation()),
      GroupAucEvaluation::of);

  private EvaluationMetrics() {}

  /** Creates the metrics of a configuration, in the order in which they are reported. */
  static List<EvaluationMetric> create(EvaluationConfig config, Layout layout) {
    return ALL.stream().flatMap(factory -> factory.apply(config, layout).stream()).toList();
  }
}
