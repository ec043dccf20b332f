package io.regatta.training.evaluation;

import io.regatta.core.metrics.BinaryMetrics;
import java.util.List;

/** AUC, average precision, accuracy, log loss, normalized entropy, errors and calibration ({@link BinaryMetrics}). */
final class BinaryEvaluation implements EvaluationMetric {

  private final ScoredLabel label;
  private BinaryMetrics metrics;

  /** @param buckets of the AUC */
  BinaryEvaluation(ScoredLabel label, int buckets) {
    this.label = label;
    metrics = new BinaryMetrics(buckets);
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
    metrics = ranks.global().apply(metrics);
  }

  @Override
  public List<Value> values() {
    String prefix = label.prefix();
    return List.of(new Value(prefix + "auc", metrics.auc(), true), new Value(prefix + "accuracy", metrics.accuracy(), true),
        new Value(prefix + "logloss", metrics.logloss(), true), new Value(prefix + "mae", metrics.mae(), false),
        new Value(prefix + "rmse", metrics.rmse(), false), new Value(prefix + "calibration", metrics.calibration(), false),
        new Value(prefix + "pr_auc", metrics.averagePrecision(), false),
        new Value(prefix + "normalized_entropy", metrics.normalizedEntropy(), false));
  }
}
