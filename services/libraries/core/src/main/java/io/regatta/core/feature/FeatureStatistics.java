package io.regatta.core.feature;

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
}
