package io.regatta.training.evaluation;

import io.regatta.training.config.LabelConfig;
import java.util.List;

/**
 * A label and the scores that predict it, by their places among the labels and scores of an example. Immutable.
 *
 * @param prefix of the names of its metrics; empty if it is the only label
 * @param kind of the label
 * @param classes of a label of classes; otherwise empty
 * @param labelAt place of the label
 * @param scoresAt place of its first score: the probability of the positive class, those of the classes, or the number
 */
public record ScoredLabel(String prefix, LabelConfig.Kind kind, List<String> classes, int labelAt, int scoresAt) {

  /** A binary label that is alone. */
  static final ScoredLabel BINARY = new ScoredLabel("", LabelConfig.Kind.BINARY, List.of(), 0, 0);

  public ScoredLabel {
    classes = List.copyOf(classes);
  }
}
