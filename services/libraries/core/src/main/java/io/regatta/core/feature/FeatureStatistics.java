package io.regatta.core.feature;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The statistics of training data from which features are computed. Immutable; any thread.
 *
 * @param numbers by name of the feature ({@code when.age_days} for an age of the feature {@code when})
 * @param bounds of buckets, strictly increasing, by name of the feature
 * @param vocabularies by namespace
 */
public record FeatureStatistics(Map<String, NumberStatistics> numbers, Map<String, List<Double>> bounds,
    Map<String, Vocabulary> vocabularies) {

  public static final FeatureStatistics NONE = new FeatureStatistics(Map.of(), Map.of(), Map.of());

  public FeatureStatistics {
    numbers = Map.copyOf(numbers);
    bounds = Map.copyOf(bounds);
    vocabularies = Map.copyOf(vocabularies);
  }

  /** Returns a number that differs if any statistic differs. */
  public long digest() {
    Digest digest = new Digest();
    new TreeMap<>(numbers).forEach((name, number) -> digest.add(name).addRecord(number));
    digest.add(numbers.size());
    new TreeMap<>(bounds).forEach((name, of) -> {
      digest.add(name).add(of.size());
      of.forEach(bound -> digest.add(bound.doubleValue()));
    });
    digest.add(bounds.size());
    new TreeMap<>(vocabularies).forEach((name, vocabulary) -> digest.add(name).add(vocabulary.digest()));
    return digest.add(vocabularies.size()).value();
  }

  /**
   * The statistics of training rows that features need. Immutable.
   *
   * @param numbers fields whose mean, deviation and range are needed, in the order of the features
   * @param quantiles number of buckets, by feature
   * @param minCounts minimum count of a value, by namespace
   */
  public record Needs(List<String> numbers, Map<String, Integer> quantiles, Map<String, Long> minCounts) {

    public Needs {
      numbers = List.copyOf(numbers);
      quantiles = Map.copyOf(quantiles);
      minCounts = Map.copyOf(minCounts);
    }

    /** Returns the needs of these features. */
    public static Needs of(List<Feature> features) {
      List<String> numbers = new ArrayList<>();
      Map<String, Integer> quantiles = new TreeMap<>();
      Map<String, Long> minCounts = new TreeMap<>();
      for (Feature feature : features) {
        if (feature instanceof NumberFeature number && number.scale() != NumberFeature.Scale.NONE) {
          numbers.add(number.name());
        } else if (feature instanceof TimeFeature time && time.parts().contains(TimeFeature.Part.AGE_DAYS)) {
          numbers.add(TimeFeature.Part.AGE_DAYS.field(time.name()));
        } else if (feature instanceof BucketFeature bucket && bucket.quantiles() > 0) {
          quantiles.put(bucket.name(), bucket.quantiles());
        }
        IdCoding ids = FeatureTransform.coding(feature);
        if (ids != null && ids.minCount() > 1) {
          minCounts.put(ids.namespace(), ids.minCount());
        }
      }
      return new Needs(numbers, quantiles, minCounts);
    }

    /** Returns true if the features are computed from their values alone. */
    public boolean isEmpty() {
      return numbers.isEmpty() && quantiles.isEmpty() && minCounts.isEmpty();
    }
  }
}
