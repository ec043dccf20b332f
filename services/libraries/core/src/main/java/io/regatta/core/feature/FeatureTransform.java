package io.regatta.core.feature;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.feature.FeatureField.Kind;
import io.regatta.core.reduce.DistinctIds;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The transformation of a row into the floats and ids of an example. Training, {@code analyze}, {@code predict} and
 * {@code serve} call it and no other code. Numbers are computed in double precision with {@link StrictMath}, so they
 * have the same bits on every machine. Immutable; any thread.
 */
public final class FeatureTransform {

  private final List<Feature> features;
  private final FeatureStatistics statistics;
  private final List<String> columns;
  private final List<FeatureField> fields;
  /** In the order of computation: crosses after their fields. */
  private final List<FeatureStep> steps;
  private final int dense;
  private final int ids;
  private final boolean valued;

  private FeatureTransform(List<Feature> features, FeatureStatistics statistics, boolean complete) {
    this.features = List.copyOf(features);
    this.statistics = statistics;
    Set<String> read = new LinkedHashSet<>();
    features.forEach(feature -> read.addAll(feature.columns()));
    columns = List.copyOf(read);
    valued = features.stream().anyMatch(FeatureTransform::hasFactors);
    checkNames();
    checkTables();
    FieldBuilder builder = new FieldBuilder(columns, statistics, FeatureStatistics.Needs.of(features), complete);
    List<List<FeatureStep>> ofFeatures = new ArrayList<>();
    this.features.forEach(feature -> ofFeatures.add(builder.steps(feature)));
    fields = List.copyOf(builder.fields());
    dense = builder.dense();
    ids = builder.ids();
    steps = List.copyOf(inOrder(ofFeatures));
  }

  /**
   * Creates the transformation.
   *
   * @param features with distinct names, in the order of their fields
   * @throws InvalidInput if names are equal, a cross reads an unknown field, crosses form a circle, or statistics lack
   *     what a feature needs
   */
  public static FeatureTransform of(List<Feature> features, FeatureStatistics statistics) {
    return new FeatureTransform(features, statistics, true);
  }

  /**
   * Creates a transformation that finds the bad rows of data without statistics, and {@link #observe observes} the good
   * ones. Its floats and ids are undefined.
   */
  public static FeatureTransform withoutStatistics(List<Feature> features) {
    return new FeatureTransform(features, FeatureStatistics.NONE, false);
  }

  /** Returns the rules of a feature's ids, or null. */
  static IdCoding coding(Feature feature) {
    if (feature instanceof IdFeature id) {
      return id.coding();
    } else if (feature instanceof IdsFeature several) {
      return several.coding();
    } else if (feature instanceof SequenceFeature sequence) {
      return sequence.coding();
    }
    return feature instanceof TextFeature text ? text.coding() : null;
  }

  private static boolean hasFactors(Feature feature) {
    return feature instanceof IdsFeature several
        && (!several.weightSeparator().isEmpty() || several.max() > 1 && several.pooling() == Feature.Pooling.MEAN)
        || feature instanceof TextFeature text && text.max() > 1 && text.pooling() == Feature.Pooling.MEAN
        || feature instanceof SequenceFeature sequence && sequence.max() > 1;
  }

  private void checkNames() {
    if (features.isEmpty()) {
      throw new InvalidInput("there are no features: declare one or more");
    }
    Set<String> names = new LinkedHashSet<>();
    for (Feature feature : features) {
      if (!names.add(feature.name())) {
        throw new InvalidInput("two features have the name " + feature.name() + ": give each a name of its own");
      }
    }
  }

  /** Checks that features of one table make the same ids of equal values. */
  private void checkTables() {
    Map<String, Feature> firsts = new HashMap<>();
    for (Feature feature : features) {
      IdCoding coding = coding(feature);
      Feature first = coding == null ? null : firsts.putIfAbsent(coding.namespace(), feature);
      if (first != null && !coding(first).equals(coding)) {
        throw new InvalidInput("the features " + first.name() + " and " + feature.name() + " share the table "
            + coding.namespace() + ", but differ in " + coding(first).difference(coding) + ": give both the same");
      }
    }
  }

  /** Returns the steps, crosses after the fields that they read. */
  private List<FeatureStep> inOrder(List<List<FeatureStep>> ofFeatures) {
    Map<String, Integer> owners = new LinkedHashMap<>();
    for (int i = 0; i < ofFeatures.size(); i++) {
      for (FeatureStep step : ofFeatures.get(i)) {
        for (FeatureField field : step.fields()) {
          if (owners.putIfAbsent(field.name(), i) != null) {
            throw new InvalidInput("two features have a field named " + field.name() + ": give each a name of its own");
          }
        }
      }
    }
    List<FeatureStep> ordered = new ArrayList<>();
    boolean[] done = new boolean[ofFeatures.size()];
    for (int i = 0; i < done.length; i++) {
      visit(i, ofFeatures, owners, new LinkedHashSet<>(), done, ordered);
    }
    return ordered;
  }

  private void visit(int feature, List<List<FeatureStep>> ofFeatures, Map<String, Integer> owners, Set<String> path,
      boolean[] done, List<FeatureStep> ordered) {
    Feature declared = features.get(feature);
    if (done[feature]) {
      return;
    }
    if (!path.add(declared.name())) {
      throw new InvalidInput("the features " + path + " cross each other in a circle: take one out of it");
    }
    for (String name : declared.of()) {
      Integer owner = owners.get(name);
      FeatureField field = fields.stream().filter(each -> each.name().equals(name)).findFirst().orElse(null);
      if (owner == null || field == null) {
        throw new InvalidInput("the feature " + declared.name() + " crosses " + name + ", which is no feature; there are "
            + owners.keySet());
      }
      if (field.kind() != Kind.IDS || field.width() != 1 || !hasOneId(features.get(owner))) {
        throw new InvalidInput("the feature " + declared.name() + " crosses " + name + ", which has not one id: cross features "
            + "of the kinds id, bucket, time and cross");
      }
      visit(owner, ofFeatures, owners, path, done, ordered);
    }
    path.remove(declared.name());
    for (FeatureStep step : ofFeatures.get(feature)) {
      step.bind(fields);
      ordered.add(step);
    }
    done[feature] = true;
  }

  private static boolean hasOneId(Feature feature) {
    return feature instanceof IdFeature || feature instanceof BucketFeature || feature instanceof TimeFeature
        || feature instanceof CrossFeature;
  }

  /** Returns the columns of an {@link InputRow}, in order. */
  public List<String> columns() {
    return columns;
  }

  public List<FeatureField> fields() {
    return fields;
  }

  /** Returns the number of floats of an example. */
  public int dense() {
    return dense;
  }

  /** Returns the most ids of each field of ids. */
  public List<Integer> widths() {
    return fields.stream().filter(field -> field.kind() != Kind.DENSE).map(FeatureField::width).toList();
  }

  /** Returns true if each id has a factor. */
  public boolean valued() {
    return valued;
  }

  /** Returns the id of a missing value for each field of ids; padding if it has none. */
  public List<Long> emptyIds() {
    return fields.stream().filter(field -> field.kind() != Kind.DENSE).map(FeatureField::missingId).toList();
  }

  /** Returns a number that differs if declarations, their order or statistics differ. */
  public long digest() {
    Digest digest = new Digest();
    features.forEach(feature -> digest.addRecord((Record) feature));
    return digest.add(statistics.digest()).value();
  }

  /**
   * Transforms a row and sets every position of the example.
   *
   * @param row its columns are {@link #columns}
   * @param dense floats, from {@code denseAt} on
   * @param ids from {@code idsAt} on
   * @param values factors of the ids; null if not {@link #valued}
   * @return null, or the reason why the row is bad: the example is then undefined
   */
  public BadValue apply(InputRow row, float[] dense, int denseAt, long[] ids, float[] values, int idsAt) {
    FeatureStep.Example into = new FeatureStep.Example(dense, denseAt, ids, values, idsAt);
    for (FeatureStep step : steps) {
      BadValue bad = step.apply(row, into);
      if (bad != null) {
        return bad;
      }
    }
    if (values != null) {
      for (int i = idsAt; i < idsAt + this.ids; i++) {
        values[i] = ids[i] == DistinctIds.PADDING ? 0 : values[i];
      }
    }
    return null;
  }

  /**
   * Passes the values of good rows from which statistics are computed to {@code into}: feature by feature, and each one's in
   * the order of the rows, so that what is computed of a feature stays in the processor's cache.
   *
   * @param count rows, the first ones of the array
   */
  public void observe(InputRow[] rows, int count, FeatureObserver into) {
    for (FeatureStep step : steps) {
      for (int i = 0; i < count; i++) {
        step.observe(rows[i], into);
      }
    }
  }
}
