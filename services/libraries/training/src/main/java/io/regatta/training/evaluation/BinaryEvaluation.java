package io.regatta.training.evaluation;

import io.regatta.core.metrics.BinaryMetrics;
import java.util.List;

/** AUC, average precision, accuracy, log loss, normalized entropy, errors and calibration ({@link BinaryMetrics}). */
final class BinaryEvaluation implements EvaluationMetric {

  private BinaryMetrics metrics = new BinaryMetrics(BinaryMetrics.BUCKETS);

  @Override
  public void add(Predictions batch) {
    for (int i = 0; i < batch.size(); i++) {
      metrics.add(batch.probabilities()[i], batch.labels()[i]);
    }
  }

  @Override
  public void merge(Ranks ranks) {
    metrics = ranks.global().apply(metrics);
  }

  @Override
  public List<Value> values() {
    return List.of(new Value("auc", metrics.auc(), true), new Value("accuracy", metrics.accuracy(), true),
        new Value("logloss", metrics.logloss(), true), new Value("mae", metrics.mae(), false),
        new Value("rmse", metrics.rmse(), false), new Value("calibration", metrics.calibration(), false),
        new Value("pr_auc", metrics.averagePrecision(), false),
        new Value("normalized_entropy", metrics.normalizedEntropy(), false));
  }
}
