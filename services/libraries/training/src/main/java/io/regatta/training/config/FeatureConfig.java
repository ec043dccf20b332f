package io.regatta.training.config;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.settings.Setting;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * One feature in the section {@code features} of a job file, by its name. A key that has no effect on a feature of its
 * kind is refused. Immutable.
 */
public record FeatureConfig(
    @Setting(doc = "id: one value that is looked up. number: a number. bucket: a number, of which only its interval counts. "
        + "ids: several values, pooled. sequence: several values in order. cross: a combination of features. text: words. "
        + "time: parts of a point in time.")
    Kind kind,

    @Setting(doc = "Column that it reads; empty: the feature's name. Not for cross.")
    String column,

    @Setting(value = "own", doc = "Missing values. own: a value of its own, learned like the others; for a number, a second number "
        + "that is 1. none: no value (a number: fill). refuse: the line is bad. Not for cross.")
    Missing missing,

    @Setting(doc = "id, ids, sequence, text: features with the same table share the vectors of equal values; empty: the feature's name.")
    String table,

    @Setting(value = "0", doc = "id, ids, sequence, text: values share this number of vectors, by hash. 0: each value has its own.")
    long hashBuckets,

    @Setting(value = "1", doc = "id, ids, sequence, text: values seen less often in training are one value, rare. More than 1 needs "
        + "statistics.")
    long minCount,

    @Setting(doc = "id, ids, sequence, text: values that are known; all others are one value, unknown. Empty: all are known.")
    List<String> vocabulary,

    @Setting(value = "false", doc = "id, ids, sequence: text is a whole number, and 07, +7 and 7 are the same value.")
    boolean whole,

    @Setting(doc = "number: least and greatest value; others are set to these. Two numbers, or empty: none.")
    List<Double> clip,

    @Setting(value = "none", doc = "number: after clip. log: sign(x) * log(1 + |x|). power: sign(x) * |x|^power.")
    Transform transform,

    @Setting(value = "0.5", doc = "number with transform: power: the exponent, more than 0.")
    double power,

    @Setting(value = "standard", doc = "number: after transform. standard: mean 0, standard deviation 1. min_max: from 0 to 1. Both need "
        + "statistics. none: as it is.")
    Scale scale,

    @Setting(value = "NaN", doc = "number: what stands for a missing value, clipped, transformed and scaled like others. NaN: 0 after scale, "
        + "which for standard is the mean.")
    double fill,

    @Setting(doc = "bucket: lower bounds of all buckets but the first, in rising order.")
    List<Double> bounds,

    @Setting(value = "0", unit = "buckets", doc = "bucket: bounds are chosen so that this number of buckets have equally many training "
        + "rows; needs statistics. 0: bounds are given.")
    int quantiles,

    @Setting(value = "|", doc = "ids, sequence: text between two values.")
    String separator,

    @Setting(doc = "ids: text between a value and its weight, as : in red:0.5. Empty: no weights.")
    String weightSeparator,

    @Setting(value = "20", unit = "values", doc = "ids, sequence, text: most values of an example; others are left out.")
    int max,

    @Setting(value = "sum", doc = "ids, text: how the vectors of an example's values become one.")
    Pooling pooling,

    @Setting(value = "last", doc = "sequence: which values stay if there are more than max.")
    Keep keep,

    @Setting(doc = "cross: features that it combines, two or more.")
    List<String> of,

    @Setting(value = "1", unit = "words", doc = "text: runs of 1 to this number of words are values.")
    int ngrams,

    @Setting(value = "iso", doc = "time: how the column is written: epoch_s, epoch_ms, iso, or a pattern such as yyMMddHH.")
    String format,

    @Setting(value = "UTC", doc = "time: zone of the parts, and of a text without zone.")
    String zone,

    @Setting(value = "hour,weekday", doc = "time: its parts, each a field. age_days: a number, days after since.")
    List<Part> parts,

    @Setting(doc = "time with age_days: date from which days count, as 2020-01-31.")
    String since) {

  /** The kinds of features. */
  public enum Kind { ID, NUMBER, BUCKET, IDS, SEQUENCE, CROSS, TEXT, TIME }

  /** The treatment of a missing value. */
  public enum Missing { OWN, NONE, REFUSE }

  /** The transformation of a number before it is scaled. */
  public enum Transform { NONE, LOG, POWER }

  /** The scaling of a number by statistics of the training rows. */
  public enum Scale { NONE, STANDARD, MIN_MAX }

  /** The pooling of several vectors. */
  public enum Pooling { SUM, MEAN }

  /** The values of a sequence that stay. */
  public enum Keep { LAST, FIRST }

  /** The parts of a point in time. */
  public enum Part { HOUR, WEEKDAY, DAY, MONTH, AGE_DAYS }

  private static final Kind[] LOOKED_UP = {Kind.ID, Kind.IDS, Kind.SEQUENCE, Kind.TEXT};

  public FeatureConfig {
    vocabulary = List.copyOf(vocabulary);
    clip = List.copyOf(clip);
    bounds = List.copyOf(bounds);
    of = List.copyOf(of);
    parts = List.copyOf(parts);
    only(kind, !column.isEmpty(), "column", Kind.ID, Kind.NUMBER, Kind.BUCKET, Kind.IDS, Kind.SEQUENCE, Kind.TEXT, Kind.TIME);
    only(kind, missing != Missing.OWN, "missing", Kind.ID, Kind.NUMBER, Kind.BUCKET, Kind.IDS, Kind.SEQUENCE, Kind.TEXT, Kind.TIME);
    only(kind, !table.isEmpty(), "table", LOOKED_UP);
    only(kind, hashBuckets != 0, "hash_buckets", LOOKED_UP);
    only(kind, minCount != 1, "min_count", LOOKED_UP);
    only(kind, !vocabulary.isEmpty(), "vocabulary", LOOKED_UP);
    only(kind, whole, "whole", Kind.ID, Kind.IDS, Kind.SEQUENCE);
    only(kind, !clip.isEmpty(), "clip", Kind.NUMBER);
    only(kind, transform != Transform.NONE, "transform", Kind.NUMBER);
    only(kind, power != 0.5, "power", Kind.NUMBER);
    only(kind, scale != Scale.STANDARD, "scale", Kind.NUMBER);
    only(kind, !Double.isNaN(fill), "fill", Kind.NUMBER);
    only(kind, !bounds.isEmpty(), "bounds", Kind.BUCKET);
    only(kind, quantiles != 0, "quantiles", Kind.BUCKET);
    only(kind, !separator.equals("|"), "separator", Kind.IDS, Kind.SEQUENCE);
    only(kind, !weightSeparator.isEmpty(), "weight_separator", Kind.IDS);
    only(kind, max != 20, "max", Kind.IDS, Kind.SEQUENCE, Kind.TEXT);
    only(kind, pooling != Pooling.SUM, "pooling", Kind.IDS, Kind.TEXT);
    only(kind, keep != Keep.LAST, "keep", Kind.SEQUENCE);
    only(kind, !of.isEmpty(), "of", Kind.CROSS);
    only(kind, ngrams != 1, "ngrams", Kind.TEXT);
    only(kind, !format.equals("iso"), "format", Kind.TIME);
    only(kind, !zone.equals("UTC"), "zone", Kind.TIME);
    only(kind, !parts.equals(List.of(Part.HOUR, Part.WEEKDAY)), "parts", Kind.TIME);
    only(kind, !since.isEmpty(), "since", Kind.TIME);
    checkIds(hashBuckets, minCount, vocabulary);
    checkNumber(clip, transform, power);
    if (Double.isInfinite(fill)) {
      throw new InvalidInput("fill must be a finite number, not " + fill);
    }
    if (kind == Kind.BUCKET) {
      checkBucket(bounds, quantiles);
    }
    if (max < 1 || max > 10_000) {
      throw new InvalidInput("max must be 1 to 10000, not " + max);
    }
    if ((kind == Kind.IDS || kind == Kind.SEQUENCE) && separator.isEmpty()) {
      throw new InvalidInput("separator is empty; give the text between two values, or leave the key out for |");
    }
    if (kind == Kind.CROSS && (of.size() < 2 && !of.toString().contains("-") || Set.copyOf(of).size() < of.size())) {
      throw new InvalidInput("of must name two or more different features, not " + of);
    }
    if (ngrams < 1 || ngrams > 10) {
      throw new InvalidInput("ngrams must be 1 to 10, not " + ngrams);
    }
    if (kind == Kind.TIME && (parts.isEmpty() || Set.copyOf(parts).size() < parts.size())) {
      throw new InvalidInput("parts must name one or more different parts, such as hour");
    }
    if (parts.contains(Part.AGE_DAYS) == since.isEmpty()) {
      throw new InvalidInput(since.isEmpty() ? "parts has age_days, but since is missing; give the date from which days count, as "
          + "2020-01-31" : "since has no effect without age_days in parts; take it out, or add age_days");
    }
  }

  private static void checkIds(long hashBuckets, long minCount, List<String> vocabulary) {
    if (hashBuckets < 0) {
      throw new InvalidInput("hash_buckets must be at least 0, not " + hashBuckets);
    }
    if (minCount < 1) {
      throw new InvalidInput("min_count must be at least 1, not " + minCount);
    }
    if (!vocabulary.isEmpty() && minCount > 1) {
      throw new InvalidInput("vocabulary and min_count both say which values are known; take one out");
    }
    if (hashBuckets > 0 && (minCount > 1 || !vocabulary.isEmpty())) {
      throw new InvalidInput("hash_buckets has no rare or unknown values; take it out, or take out "
          + (minCount > 1 ? "min_count" : "vocabulary"));
    }
  }

  private static void checkNumber(List<Double> clip, Transform transform, double power) {
    if (!clip.isEmpty() && (clip.size() != 2 || !(clip.get(0) < clip.get(1)))) {
      throw new InvalidInput("clip must be the least and the greatest value, as [0, 100], not " + clip);
    }
    if (!(power > 0)) {
      throw new InvalidInput("power must be more than 0, not " + power);
    }
    if (power != 0.5 && transform != Transform.POWER) {
      throw new InvalidInput("power has no effect with transform: " + word(transform) + "; take it out, or set transform: power");
    }
  }

  private static void checkBucket(List<Double> bounds, int quantiles) {
    if (bounds.isEmpty() == (quantiles == 0)) {
      throw new InvalidInput("a bucket feature has either bounds or quantiles; give one, such as quantiles: 20");
    }
    if (quantiles < 0 || quantiles == 1 || quantiles > 10_000) {
      throw new InvalidInput("quantiles must be 2 to 10000 buckets, not " + quantiles);
    }
    for (int i = 0; i < bounds.size(); i++) {
      if (!Double.isFinite(bounds.get(i)) || i > 0 && bounds.get(i) <= bounds.get(i - 1)) {
        throw new InvalidInput("bounds must rise, but " + bounds.get(i) + (i == 0 ? " is no finite number"
            : " comes after " + bounds.get(i - 1)));
      }
    }
  }

  /** Refuses a key that was set on a feature of a kind on which it has no effect. */
  private static void only(Kind kind, boolean set, String key, Kind... with) {
    if (set && !List.of(with).contains(kind)) {
      throw new InvalidInput(key + " has no effect on kind " + word(kind) + "; take it out, or set kind: "
          + Arrays.stream(with).map(FeatureConfig::word).collect(Collectors.joining(" or ")));
    }
  }

  private static String word(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }
}
