package io.regatta.training.feature;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.feature.Feature;
import io.regatta.data.feature.KeyColumn;
import io.regatta.data.feature.LabelColumn;
import io.regatta.data.feature.LabelColumns;
import io.regatta.data.feature.RowLabels;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.LabelConfig;
import io.regatta.training.config.MetricsConfig;
import io.regatta.training.config.ModelConfig;
import io.regatta.training.evaluation.Evaluation;
import io.regatta.training.evaluation.KeyOfExamples;
import io.regatta.training.evaluation.ScoredLabel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The labels that a job declares, and the keys of examples that its losses and metrics need. In an example's labels they
 * are floats: one for each label, then the keys of losses, then those of metrics, which training rows lack.
 * Immutable.
 */
public final class DeclaredLabels {

  /**
   * A declared label.
   *
   * @param classes of a label of classes, ranges expanded; otherwise empty
   * @param at its place among the floats of an example's labels
   * @param scoresAt place of its first output among those of the network
   */
  public record Label(String name, LabelConfig config, List<String> classes, int at, int scoresAt) {

    /** Returns the number of the network's outputs for this label. */
    public int outputs() {
      return config.kind() == LabelConfig.Kind.CLASSES ? classes.size() : 1;
    }

    private String column() {
      return config.column().isEmpty() ? name : config.column();
    }
  }

  private record Key(KeyColumn column, int at, boolean ofMetrics) {}

  private final List<Label> labels = new ArrayList<>();
  private final List<Key> keys = new ArrayList<>();
  private final MetricsConfig metrics;
  private final Key group;
  private final Key item;
  private final Key gauc;
  private final List<Key> slices;
  private int width;

  private DeclaredLabels(JobConfig job, List<Feature> features) {
    int scores = 0;
    for (Map.Entry<String, LabelConfig> entry : job.labels().entrySet()) {
      LabelConfig config = entry.getValue();
      List<String> classes = NameRange.names("labels." + entry.getKey() + ".classes", config.classes());
      if (config.kind() == LabelConfig.Kind.CLASSES) {
        LabelConfig.checkClasses(entry.getKey(), classes);
      }
      Label label = new Label(entry.getKey(), config, classes, width++, scores);
      scores += label.outputs();
      checkColumn(job, features, label.column());
      labels.add(label);
    }
    metrics = job.metrics();
    group = labels.stream().filter(label -> label.config.kind() == LabelConfig.Kind.RANK)
        .map(label -> key(label.config.group(), KeyColumn.Form.HASH, false)).findFirst().orElse(null);
    item = job.model().kind() == ModelConfig.Kind.TWO_TOWERS ? key(itemColumn(job, features), KeyColumn.Form.HASH, false) : null;
    gauc = metrics.gauc().isEmpty() ? null : key(metrics.gauc(), KeyColumn.Form.HASH, true);
    checkItem(job);
    slices = metrics.slices().stream().map(column -> key(column, KeyColumn.Form.TEXT, true)).toList();
  }

  private void checkItem(JobConfig job) {
    boolean fits = labels.size() == 1 && (labels.get(0).config.kind() == LabelConfig.Kind.BINARY
        || labels.get(0).config.kind() == LabelConfig.Kind.NUMBER);
    if (item != null && !(fits && metrics.slices().isEmpty() && metrics.gauc().isEmpty())) {
      throw new InvalidInput("job " + job.job() + ": two_towers learns from one label of kind binary or number, and its metric is recall; "
          + "take other labels, metrics.slices and metrics.gauc out");
    }
  }

  private Key key(String column, KeyColumn.Form form, boolean ofMetrics) {
    Key key = new Key(new KeyColumn(column, form, false), width, ofMetrics);
    width += form.width();
    keys.add(key);
    return key;
  }

  /** Returns the column that names an item: that of the first feature of the item's tower. */
  private static String itemColumn(JobConfig job, List<Feature> features) {
    String name = job.model().item().stream().findFirst().orElse("");
    return features.stream().filter(feature -> feature.name().equals(name)).flatMap(feature -> feature.columns().stream()).findFirst()
        .orElseThrow(() -> new InvalidInput("job " + job.job() + ": model.item begins with '" + name + "', which is no feature with a "
            + "column; begin with the feature that names the item"));
  }

  private static void checkColumn(JobConfig job, List<Feature> features, String column) {
    for (Feature feature : features) {
      if (feature.columns().contains(column)) {
        throw new InvalidInput("job " + job.job() + ": the feature " + feature.name() + " reads the column " + column
            + " of the label, so that the model would be given what it is to predict; take one of them out");
      }
    }
  }

  /**
   * Returns the labels of a job.
   *
   * @throws InvalidInput if it declares no features or no label, or a feature reads the column of a label
   */
  public static DeclaredLabels of(JobConfig job, List<Feature> features) {
    if (job.features().isEmpty() || job.labels().isEmpty()) {
      throw new InvalidInput("job " + job.job() + " declares " + (job.features().isEmpty() ? "no features" : "no label")
          + "; declare features and a label, in the sections features and labels");
    }
    return new DeclaredLabels(job, features);
  }

  /** Returns the labels in the order of the job. */
  public List<Label> labels() {
    return labels;
  }

  /** Returns the number of the network's outputs for all labels. */
  public int outputs() {
    return labels.stream().mapToInt(Label::outputs).sum();
  }

  /** Returns the names of the outputs: those of the labels, and for classes {@code label=class}. */
  public List<String> outputNames() {
    return labels.stream().flatMap(label -> label.classes.isEmpty() ? List.of(label.name).stream()
        : label.classes.stream().map(of -> label.name + "=" + of)).toList();
  }

  /** Returns the place of the group's hash among the floats of an example's labels; empty if no label has groups. */
  public Optional<Integer> groupAt() {
    return Optional.ofNullable(group).map(Key::at);
  }

  /** Returns the place of the item's hash among the floats of an example's labels; empty if there are no items. */
  public Optional<Integer> itemAt() {
    return Optional.ofNullable(item).map(Key::at);
  }

  /** Returns the columns of the labels. */
  public List<String> columns() {
    return labels.stream().map(Label::column).distinct().toList();
  }

  /**
   * Returns the reader of labels and keys.
   *
   * @param ofMetrics true with the keys of metrics, which training does not need
   */
  public RowLabels rows(boolean ofMetrics) {
    List<RowLabels> parts = new ArrayList<>();
    labels.forEach(label -> parts.add(new LabelColumn(label.column(), kind(label.config), words(label),
        label.config.missing() == LabelConfig.Missing.MASK)));
    keys.stream().filter(key -> ofMetrics || !key.ofMetrics).forEach(key -> parts.add(key.column));
    return parts.size() == 1 ? parts.get(0) : new LabelColumns(parts);
  }

  private static LabelColumn.Kind kind(LabelConfig config) {
    return switch (config.kind()) {
      case BINARY -> LabelColumn.Kind.BINARY;
      case CLASSES -> LabelColumn.Kind.CLASSES;
      case NUMBER -> config.loss() == LabelConfig.Loss.POISSON ? LabelColumn.Kind.COUNT : LabelColumn.Kind.NUMBER;
      case RANK -> LabelColumn.Kind.COUNT;
    };
  }

  private static List<String> words(Label label) {
    return !label.classes.isEmpty() ? label.classes
        : label.config.positive().isEmpty() ? List.of() : List.of(label.config.positive());
  }

  /** Returns a new evaluation of predictions of the labels. */
  public Evaluation evaluation() {
    List<ScoredLabel> scored = labels.stream().map(label -> new ScoredLabel(labels.size() == 1 ? "" : label.name + ".",
        label.config.kind(), label.classes, label.at, label.scoresAt)).toList();
    return new Evaluation(scored, new Evaluation.Keys(Optional.ofNullable(group).map(DeclaredLabels::ofExamples),
        Optional.ofNullable(item).map(DeclaredLabels::ofExamples), Optional.ofNullable(gauc).map(DeclaredLabels::ofExamples), slices.stream().map(DeclaredLabels::ofExamples).toList()), metrics);
  }

  private static KeyOfExamples ofExamples(Key key) {
    return new KeyOfExamples(key.column.column(), key.at);
  }
}
