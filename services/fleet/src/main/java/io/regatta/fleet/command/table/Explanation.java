package io.regatta.fleet.command.table;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.feature.FeatureField;
import io.regatta.core.feature.FeatureField.Kind;
import io.regatta.core.reduce.DistinctIds;
import io.regatta.data.SlotBatch;
import io.regatta.predictor.Predictor;
import io.regatta.training.evaluation.Evaluation;
import io.regatta.training.evaluation.Predictions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.LongStream;

/**
 * The importance of each feature of a model, by shuffling (Breiman, "Random Forests", 2001): the loss in a metric if the values
 * of the feature change places among the examples. Beside it, its coverage and the weights of a linear part. One thread.
 */
final class Explanation {

  private static final int BATCH = 1024;
  private static final int VALUES_SHOWN = 5;
  /** Words in the names of metrics of which less is better. */
  private static final List<String> LOSSES = List.of("loss", "mae", "rmse", "mse", "deviance", "entropy");

  /**
   * One feature.
   *
   * @param importance mean loss in the metric
   * @param deviation of that loss between repetitions
   * @param missing share of the examples without a value
   * @param trained share of the ids that the model has seen in training; NaN for numbers
   * @param weight mean absolute weight over the examples in the linear part; NaN if it has none
   * @param values ids with the largest weights
   */
  record Entry(String name, double importance, double deviation, double missing, double trained, double weight, List<Weighted> values) {}

  /** A value of a feature and its weight in the linear part. */
  record Weighted(String value, double weight, long examples) {}

  /** The result: entries with the most important one first. */
  record Result(String metric, double value, int examples, List<Entry> entries) {}

  private final Predictor predictor;
  private final SlotBatch examples;
  private final List<FeatureField> fields;
  private final Map<Long, String> names;
  private final String metric;

  /**
   * Creates an explanation.
   *
   * @param names of ids, as far as they are known
   * @param metric empty: AUC, or else the first one
   */
  Explanation(Predictor predictor, SlotBatch examples, List<FeatureField> fields, Map<Long, String> names, String metric) {
    this.predictor = predictor;
    this.examples = examples;
    this.fields = fields;
    this.names = names;
    Set<String> known = metrics(examples).keySet();
    this.metric = !metric.isEmpty() ? metric : known.contains("auc") ? "auc" : known.iterator().next();
    if (!known.contains(this.metric)) {
      throw new InvalidInput("--metric: the model has no metric " + metric + ", only " + known);
    }
  }

  Result run(int repeats, long seed) {
    double base = metrics(examples).get(metric);
    double sign = LOSSES.stream().anyMatch(metric::contains) ? -1 : 1;
    List<Entry> entries = new ArrayList<>();
    for (FeatureField field : fields) {
      double[] losses = new double[repeats];
      for (int repeat = 0; repeat < repeats; repeat++) {
        losses[repeat] = sign * (base - metrics(shuffled(field, new Random(seed + repeat))).get(metric));
      }
      double mean = Arrays.stream(losses).average().orElse(0);
      double deviation = Math.sqrt(Arrays.stream(losses).map(loss -> (loss - mean) * (loss - mean)).average().orElse(0));
      entries.add(entry(field, mean, deviation));
    }
    entries.sort(Comparator.comparingDouble(Entry::importance).reversed());
    return new Result(metric, base, examples.rows(), List.copyOf(entries));
  }

  private Map<String, Double> metrics(SlotBatch batch) {
    Evaluation evaluation = predictor.evaluation().orElseThrow(() -> new InvalidInput("the program of the model has no metrics of its "
        + "predictions: nothing can be measured"));
    for (int from = 0; from < batch.rows(); from += BATCH) {
      SlotBatch part = SlotBatch.allocate(batch.layout(), Math.min(BATCH, batch.rows() - from));
      for (int row = 0; row < part.rows(); row++) {
        batch.copy(from + row, part, row);
      }
      evaluation.add(Predictions.of(predictor.predict(part).join().scores(), part));
    }
    Map<String, Double> values = new LinkedHashMap<>();
    evaluation.report(values::put);
    return values;
  }

  /** Returns the examples with the values of one field in another order. */
  private SlotBatch shuffled(FeatureField field, Random random) {
    int rows = examples.rows();
    int[] order = new int[rows];
    for (int i = 0; i < rows; i++) { // inside-out
      int j = random.nextInt(i + 1);
      order[i] = order[j];
      order[j] = i;
    }
    SlotBatch changed = SlotBatch.allocate(examples.layout(), rows);
    boolean dense = field.kind() == Kind.DENSE;
    int each = dense ? examples.layout().dense() : examples.layout().columns();
    for (int row = 0; row < rows; row++) {
      examples.copy(row, changed, row);
      int from = order[row] * each + field.offset();
      int to = row * each + field.offset();
      System.arraycopy(dense ? examples.dense() : examples.ids(), from, dense ? changed.dense() : changed.ids(), to, field.width());
      if (!dense && examples.values() != null) {
        System.arraycopy(examples.values(), from, changed.values(), to, field.width());
      }
    }
    return changed;
  }

  private Entry entry(FeatureField field, double importance, double deviation) {
    return field.kind() == Kind.DENSE ? number(field, importance, deviation) : ids(field, importance, deviation);
  }

  private Entry number(FeatureField field, double importance, double deviation) {
    int each = examples.layout().dense();
    long missing = 0;
    double size = 0;
    float[] weights = predictor.linear(new long[0]).join().map(Predictor.LinearWeights::dense).orElse(new float[0]);
    for (int row = 0; row < examples.rows(); row++) {
      missing += field.width() == 2 && examples.dense()[row * each + field.offset() + 1] == 1 ? 1 : 0;
      size += Math.abs(examples.dense()[row * each + field.offset()]);
    }
    boolean weighs = weights.length > field.offset();
    List<Weighted> values = new ArrayList<>();
    if (weighs) {
      values.add(new Weighted("1 deviation or unit", weights[field.offset()], examples.rows()));
      if (field.width() == 2) {
        values.add(new Weighted("missing", weights[field.offset() + 1], missing));
      }
    }
    return new Entry(field.name(), importance, deviation, (double) missing / examples.rows(), Double.NaN,
        weighs ? Math.abs(weights[field.offset()]) * size / examples.rows() : Double.NaN, values);
  }

  private Entry ids(FeatureField field, double importance, double deviation) {
    int each = examples.layout().columns();
    Map<Long, Long> counts = new LinkedHashMap<>();
    long missing = 0;
    for (int row = 0; row < examples.rows(); row++) {
      long first = examples.ids()[row * each + field.offset()];
      missing += first == DistinctIds.PADDING || first == field.missingId() ? 1 : 0;
      for (int i = 0; i < field.width(); i++) {
        long id = examples.ids()[row * each + field.offset() + i];
        if (id != DistinctIds.PADDING) {
          counts.merge(id, 1L, Long::sum);
        }
      }
    }
    long[] ids = counts.keySet().stream().mapToLong(Long::longValue).toArray();
    boolean[] known = predictor.trained(ids).join();
    float[] weights = predictor.linear(ids).join().map(Predictor.LinearWeights::ids).orElse(new float[0]);
    long all = 0;
    long trained = 0;
    double size = 0;
    List<Weighted> values = new ArrayList<>();
    for (int i = 0; i < ids.length; i++) {
      long count = counts.get(ids[i]);
      all += count;
      trained += known[i] ? count : 0;
      if (weights.length > i) {
        size += Math.abs(weights[i]) * count;
        values.add(new Weighted(ids[i] == field.missingId() ? "missing" : names.getOrDefault(ids[i], "id "
            + Long.toHexString(ids[i])), weights[i], count));
      }
    }
    values.sort(Comparator.comparingDouble((Weighted value) -> -Math.abs(value.weight())));
    return new Entry(field.name(), importance, deviation, (double) missing / examples.rows(), all == 0 ? Double.NaN : (double) trained / all,
        weights.length == 0 ? Double.NaN : size / examples.rows(), List.copyOf(values.subList(0, Math.min(VALUES_SHOWN, values.size()))));
  }

  /** Returns the ids of an example's field that is one id; empty for others. */
  static LongStream single(FeatureField field, SlotBatch batch, int row) {
    return field.kind() == Kind.DENSE || field.width() != 1 ? LongStream.empty()
        : LongStream.of(batch.ids()[row * batch.layout().columns() + field.offset()]);
  }
}
