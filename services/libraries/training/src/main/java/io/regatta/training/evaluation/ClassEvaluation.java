package io.regatta.training.evaluation;

import io.regatta.core.metrics.ClassMetrics;
import java.util.ArrayList;
import java.util.List;

/** Accuracy, log loss, macro-F1 and the confusion matrix of a label of classes ({@link ClassMetrics}). */
final class ClassEvaluation implements EvaluationMetric {

  /** Most classes whose confusion matrix is reported. */
  private static final int SHOWN_CLASSES = 30;

  private final ScoredLabel label;
  private ClassMetrics metrics;

  ClassEvaluation(ScoredLabel label) {
    this.label = label;
    metrics = new ClassMetrics(label.classes().size());
  }

  @Override
  public void add(Predictions batch) {
    for (int i = 0; i < batch.size(); i++) {
      if (!batch.isMissing(i, label.labelAt())) {
        metrics.add(batch.scores(), batch.scoreIndex(i, label.scoresAt()), (int) batch.label(i, label.labelAt()));
      }
    }
  }

  @Override
  public void merge(Ranks ranks) {
    metrics = ClassMetrics.ofSums(ranks.sum().apply(metrics.sums()));
  }

  @Override
  public List<Value> values() {
    String prefix = label.prefix();
    List<Value> values = new ArrayList<>(List.of(new Value(prefix + "accuracy", metrics.accuracy(), true),
        new Value(prefix + "logloss", metrics.logloss(), true), new Value(prefix + "macro_f1", metrics.macroF1(), true)));
    List<String> classes = label.classes();
    for (int of = 0; of < classes.size() && classes.size() <= SHOWN_CLASSES; of++) {
      values.add(new Value(prefix + "f1[" + classes.get(of) + "]", metrics.f1(of), false));
      for (int as = 0; as < classes.size(); as++) {
        values.add(new Value(prefix + "confusion[" + classes.get(of) + " as " + classes.get(as) + "]", metrics.confusion(of, as), false));
      }
    }
    return values;
  }
}
