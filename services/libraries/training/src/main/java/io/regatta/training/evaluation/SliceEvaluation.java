package io.regatta.training.evaluation;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The metrics of all labels for each value of a column. If replicas have seen more values than the limit, there are no
 * slices of the column, whatever their order.
 */
final class SliceEvaluation implements EvaluationMetric {

  private static final Logger LOG = LoggerFactory.getLogger(SliceEvaluation.class);
  /** Doubles that hold a value: six bytes in each, and the last one its length. */
  private static final int NAME_PARTS = 11;
  private static final int BYTES = 6;

  private final KeyOfExamples column;
  private final int limit;
  private final Supplier<List<EvaluationMetric>> metrics;
  private SortedMap<String, List<EvaluationMetric>> slices = new TreeMap<>();
  private final Map<String, double[]> counts = new TreeMap<>();
  private boolean tooMany;

  /** @param metrics creates those of one slice */
  SliceEvaluation(KeyOfExamples column, int limit, Supplier<List<EvaluationMetric>> metrics) {
    this.column = column;
    this.limit = limit;
    this.metrics = metrics;
  }

  @Override
  public void add(Predictions batch) {
    for (int i = 0; i < batch.size() && !tooMany; i++) {
      String value = batch.isMissing(i, column.at()) ? "" : batch.text(i, column.at());
      tooMany = !slices.containsKey(value) && slices.size() == limit;
      if (!tooMany) {
        Predictions example = batch.only(i);
        slices.computeIfAbsent(value, slice -> metrics.get()).forEach(metric -> metric.add(example));
        counts.computeIfAbsent(value, slice -> new double[1])[0]++;
      }
    }
  }

  @Override
  public void merge(Ranks ranks) {
    double[] sizes = new double[ranks.count() + 1];
    sizes[ranks.index()] = slices.size();
    sizes[ranks.count()] = tooMany ? 1 : 0;
    sizes = ranks.sum().apply(sizes);
    TreeSet<String> all = new TreeSet<>();
    if (sizes[ranks.count()] == 0) {
      all.addAll(names(ranks, sizes));
    }
    tooMany = sizes[ranks.count()] > 0 || all.size() > limit;
    warn(ranks.index() == 0);
    if (tooMany) {
      slices = new TreeMap<>();
      return;
    }
    for (String value : all) {
      slices.computeIfAbsent(value, slice -> metrics.get()).forEach(metric -> metric.merge(ranks));
      double[] count = counts.computeIfAbsent(value, slice -> new double[1]);
      count[0] = ranks.sum().apply(new double[] {count[0]})[0];
    }
  }

  /** Returns the values of all replicas. */
  private List<String> names(Ranks ranks, double[] sizes) {
    int from = 0;
    int values = 0;
    for (int i = 0; i < ranks.count(); i++) {
      from += i < ranks.index() ? (int) sizes[i] : 0;
      values += (int) sizes[i];
    }
    double[] places = new double[values * NAME_PARTS];
    for (String value : slices.keySet()) {
      byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
      for (int b = 0; b < bytes.length; b++) {
        int at = from * NAME_PARTS + b / BYTES;
        places[at] = (double) ((long) places[at] << Byte.SIZE | bytes[b] & 0xff);
      }
      places[from++ * NAME_PARTS + NAME_PARTS - 1] = bytes.length;
    }
    places = ranks.sum().apply(places);
    List<String> names = new ArrayList<>();
    for (int i = 0; i < values; i++) {
      byte[] bytes = new byte[(int) places[i * NAME_PARTS + NAME_PARTS - 1]];
      for (int b = 0; b < bytes.length; b++) {
        int last = Math.min(bytes.length, (b / BYTES + 1) * BYTES) - 1;
        bytes[b] = (byte) ((long) places[i * NAME_PARTS + b / BYTES] >>> (last - b) * Byte.SIZE);
      }
      names.add(new String(bytes, StandardCharsets.UTF_8));
    }
    return names;
  }

  private void warn(boolean logged) {
    if (logged && tooMany) {
      LOG.warn("slices of {} are left out: test examples have more than {} values in this column; raise metrics.slice_limit, or take "
          + "the column out of metrics.slices", column.column(), limit);
    }
  }

  @Override
  public List<Value> values() {
    if (tooMany) {
      warn(!slices.isEmpty());
      return List.of();
    }
    List<Value> values = new ArrayList<>();
    slices.forEach((value, each) -> {
      String name = "[" + column.column() + "=" + value + "]";
      values.add(new Value("examples" + name, counts.get(value)[0], false));
      each.forEach(metric -> metric.values().forEach(of -> values.add(new Value(of.name() + name, of.value(), false))));
    });
    return values;
  }
}
