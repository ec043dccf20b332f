package io.regatta.training.evaluation;

import io.regatta.core.metrics.CalibrationBuckets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Prediction and observed rate of a binary label by bucket of the predictions ({@link CalibrationBuckets}). */
final class CalibrationEvaluation implements EvaluationMetric {

  private static final int BUCKETS = 10;

  private final ScoredLabel label;
  private CalibrationBuckets buckets = new CalibrationBuckets(BUCKETS);

  CalibrationEvaluation(ScoredLabel label) {
    this.label = label;
  }

  @Override
  public void add(Predictions batch) {
    for (int i = 0; i < batch.size(); i++) {
      if (!batch.isMissing(i, label.labelAt())) {
        buckets.add(batch.score(i, label.scoresAt()), batch.label(i, label.labelAt()));
      }
    }
  }

  @Override
  public void merge(Ranks ranks) {
    buckets = CalibrationBuckets.ofSums(ranks.sum().apply(buckets.sums()));
  }

  @Override
  public List<Value> values() {
    List<Value> values = new ArrayList<>();
    values.add(new Value(label.prefix() + "calibration_error", buckets.expectedError(), false));
    for (int i = 0; i < buckets.buckets(); i++) {
      if (buckets.count(i) > 0) {
        String name = String.format(Locale.ROOT, "[%.1f-%.1f]", (double) i / BUCKETS, (i + 1.0) / BUCKETS);
        values.add(new Value(label.prefix() + "calibration_predicted" + name, buckets.predicted(i), false));
        values.add(new Value(label.prefix() + "calibration_observed" + name, buckets.observed(i), false));
        values.add(new Value(label.prefix() + "calibration_examples" + name, buckets.count(i), false));
      }
    }
    return values;
  }
}
