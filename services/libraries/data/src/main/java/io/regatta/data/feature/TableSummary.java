package io.regatta.data.feature;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.feature.Feature;
import io.regatta.core.feature.FeatureObserver;
import io.regatta.core.feature.FeatureStatistics;
import io.regatta.core.feature.FeatureTransform;
import io.regatta.core.feature.InputRow;
import io.regatta.core.feature.NumberStatistics;
import io.regatta.core.feature.Vocabulary;
import io.regatta.core.hash.Mix64;
import io.regatta.core.sketch.Moments;
import io.regatta.core.sketch.QuantileSketch;
import io.regatta.core.sketch.ValueCounts;
import io.regatta.core.sketch.ValueCounts.Counted;
import io.regatta.data.column.ColumnFacts;
import io.regatta.data.column.ColumnSummary;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Statistics of some rows. One owner. */
final class TableSummary implements FeatureObserver {

  private static final int QUANTILES_K = 1 << 14;

  private final FeaturePlan plan;
  private final long seed;
  private final Map<String, Moments> numbers = new TreeMap<>();
  private final Map<String, QuantileSketch> buckets = new TreeMap<>();
  private final Map<String, ValueCounts> values = new TreeMap<>();
  private final ColumnSummary[] columns;
  private long rows;
  private String lastNamespace = "";
  private ValueCounts lastCounts;

  /** The statistics that are computed. */
  record FeaturePlan(FeatureTransform transform, FeatureStatistics.Needs needs, int distinctLimit) {}

  /** @param chunk number of the rows' chunk, which seeds sketches */
  TableSummary(FeaturePlan plan, long chunk) {
    this.plan = plan;
    this.seed = chunk;
    columns = plan.transform().columns().stream().map(column -> new ColumnSummary(Mix64.mix(Mix64.text(column) - chunk)))
        .toArray(ColumnSummary[]::new);
  }

  /** Adds good rows with their labels, the first {@code count} ones of the arrays. */
  void add(InputRow[] block, float[] labels, int count) {
    rows += count;
    for (int column = 0; column < columns.length; column++) {
      for (int i = 0; i < count; i++) {
        columns[column].add(block[i], column, labels[i]);
      }
    }
    plan.transform().observe(block, count, this);
  }

  @Override
  public void number(String field, double value) {
    numbers.computeIfAbsent(field, name -> new Moments()).add(value);
  }

  @Override
  public void bucketed(String feature, double value) {
    sketch(feature).add(value);
  }

  private QuantileSketch sketch(String feature) {
    return buckets.computeIfAbsent(feature, name -> new QuantileSketch(QUANTILES_K, Mix64.mix(Mix64.text(name) + seed)));
  }

  @Override
  public void value(String namespace, byte[] utf8, int from, int to, long id) {
    if (!namespace.equals(lastNamespace)) {
      lastNamespace = namespace;
      lastCounts = counts(namespace);
    }
    lastCounts.add(utf8, from, to, id);
  }

  private ValueCounts counts(String namespace) {
    return values.computeIfAbsent(namespace, name -> new ValueCounts(plan.distinctLimit()));
  }

  /** Adds the rows of another one, which follow. */
  void merge(TableSummary next) {
    rows += next.rows;
    for (int column = 0; column < columns.length; column++) {
      columns[column].merge(next.columns[column]);
    }
    next.numbers.forEach((name, other) -> numbers.computeIfAbsent(name, any -> new Moments()).merge(other));
    next.buckets.forEach((name, other) -> sketch(name).merge(other));
    next.values.forEach((name, other) -> counts(name).merge(other));
  }

  long rows() {
    return rows;
  }

  /** Returns the facts of each column. */
  Map<String, ColumnFacts> columns() {
    Map<String, ColumnFacts> facts = new LinkedHashMap<>();
    for (int column = 0; column < columns.length; column++) {
      facts.put(plan.transform().columns().get(column), columns[column].facts());
    }
    return facts;
  }

  /** Returns the values of each vocabulary. */
  Map<String, List<Counted>> frequentValues() {
    Map<String, List<Counted>> frequent = new TreeMap<>();
    plan.needs().minCounts().forEach((namespace, minCount) -> {
      ValueCounts counts = counts(namespace);
      if (!counts.isExact()) {
        throw new InvalidInput(namespace + " has more than " + plan.distinctLimit() + " distinct values, too many to count for its "
            + "min_count: raise --distinct-limit, or take min_count out and let the servers admit rows by "
            + "tables.embedding.life.admit_count");
      }
      frequent.put(namespace, counts.atLeast(minCount));
    });
    return frequent;
  }

  FeatureStatistics statistics(Map<String, List<Counted>> frequent) {
    Map<String, NumberStatistics> ofNumbers = new TreeMap<>();
    for (String name : plan.needs().numbers()) {
      Moments of = numbers.get(name);
      ofNumbers.put(name, of == null ? new NumberStatistics(0, 0, 0, 0)
          : new NumberStatistics(of.mean(), of.deviation(), of.min(), of.max()));
    }
    Map<String, List<Double>> bounds = new TreeMap<>();
    plan.needs().quantiles().forEach((name, count) -> bounds.put(name, sketch(name).bounds(count)));
    Map<String, Vocabulary> vocabularies = new TreeMap<>();
    frequent.forEach((namespace, counted) ->
        vocabularies.put(namespace, Vocabulary.of(namespace, counted.stream().map(Counted::text).toList())));
    return new FeatureStatistics(ofNumbers, bounds, vocabularies);
  }

  /** Returns the plan for these features. */
  static FeaturePlan plan(List<Feature> features, int distinctLimit) {
    return new FeaturePlan(FeatureTransform.withoutStatistics(features), FeatureStatistics.Needs.of(features), distinctLimit);
  }
}
