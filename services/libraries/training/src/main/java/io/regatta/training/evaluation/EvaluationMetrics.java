package io.regatta.training.evaluation;

import io.regatta.core.metrics.BinaryMetrics;
import io.regatta.data.Layout;
import io.regatta.training.config.EvaluationConfig;
import io.regatta.training.config.LabelConfig;
import io.regatta.training.config.MetricsConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;

/** The registry of metrics on test data. A new metric is a class and a line here. Stateless. */
final class EvaluationMetrics {

  /** Buckets of the AUC of a slice. */
  private static final int SLICE_BUCKETS = 1 << 12;

  /** The factories of all metrics, each of which returns an empty value if the configuration leaves the metric out. */
  private static final List<BiFunction<EvaluationConfig, Layout, Optional<EvaluationMetric>>> ALL = List.of(
      (config, layout) -> Optional.of(new BinaryEvaluation(ScoredLabel.BINARY, BinaryMetrics.BUCKETS)),
      GroupAucEvaluation::of);

  private EvaluationMetrics() {}

  /** Creates the metrics of a configuration, in the order in which they are reported. */
  static List<EvaluationMetric> create(EvaluationConfig config, Layout layout) {
    return ALL.stream().flatMap(factory -> factory.apply(config, layout).stream()).toList();
  }

  /** Creates the metrics of declared labels, in the order in which they are reported. */
  static List<EvaluationMetric> create(List<ScoredLabel> labels, Evaluation.Keys keys, MetricsConfig config) {
    if (keys.item().isPresent()) {
      return List.of(new RecallEvaluation(labels.get(0), keys.item().get(), config.recall()));
    }
    List<EvaluationMetric> all = new ArrayList<>();
    for (ScoredLabel label : labels) {
      all.addAll(ofLabel(label, BinaryMetrics.BUCKETS));
      if (label.kind() == LabelConfig.Kind.BINARY) {
        all.add(new CalibrationEvaluation(label));
        keys.gauc().ifPresent(key -> all.add(GroupAucEvaluation.ofKey(label, key, config.groupLimit())));
      }
      if (label.kind() == LabelConfig.Kind.RANK) {
        all.add(new RankingEvaluation(label, keys.group().orElseThrow(), config.ndcg(), config.groupLimit()));
      }
    }
    keys.slices().forEach(column -> all.add(new SliceEvaluation(column, config.sliceLimit(), () -> labels.stream()
        .flatMap(label -> ofLabel(label, SLICE_BUCKETS).stream()).toList())));
    return all;
  }

  private static List<EvaluationMetric> ofLabel(ScoredLabel label, int buckets) {
    return switch (label.kind()) {
      case BINARY -> List.of(new BinaryEvaluation(label, buckets));
      case CLASSES -> List.of(new ClassEvaluation(label));
      case NUMBER -> List.of(new RegressionEvaluation(label));
      case RANK -> List.of();
    };
  }
}
