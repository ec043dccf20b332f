package io.regatta.training.evaluation;

import io.regatta.core.metrics.RegressionMetrics;
import java.util.List;

/** The errors of a label that is a number ({@link RegressionMetrics}). */
final class RegressionEvaluation implements EvaluationMetric {

  private final ScoredLabel label;
  private RegressionMetrics metrics = new RegressionMetrics();

  RegressionEvaluation(ScoredLabel label) {
    this.label = label;
  }

  @Override
  public void add(Predictions batch) {
    for (int i = 0; i < batch.size(); i++) {
      if (!batch.isMissing(i, label.labelAt())) {
        metrics.add(batch.score(i, label.scoresAt()), batch.label(i, label.labelAt()));
      }
    }
  }

  @Override
  public void merge(Ranks ranks) {
    metrics = RegressionMetrics.ofSums(ranks.sum().apply(metrics.sums()));
  }

  @Override
  public List<Value> values() {
    return List.of(new Value(label.prefix() + "rmse", metrics.rmse(), true), new Value(label.prefix() + "mae", metrics.mae(), true),
        new Value(label.prefix() + "r2", metrics.r2(), true));
  }
}
