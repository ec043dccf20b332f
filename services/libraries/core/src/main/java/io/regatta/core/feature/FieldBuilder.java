package io.regatta.core.feature;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.feature.Feature.Missing;
import io.regatta.core.feature.Feature.Pooling;
import io.regatta.core.feature.FeatureField.Kind;
import io.regatta.core.feature.SequenceFeature.Keep;
import io.regatta.core.reduce.DistinctIds;
import java.util.ArrayList;
import java.util.List;

/** A builder of the fields of features and of the steps that compute them. One owner. */
final class FieldBuilder {

  private static final NumberStatistics UNKNOWN = new NumberStatistics(0, 1, 0, 1);
  private static final Vocabulary EMPTY = new Vocabulary(new long[0]);

  private final List<String> columns;
  private final FeatureStatistics statistics;
  private final FeatureStatistics.Needs needs;
  private final boolean complete;
  private final List<FeatureField> fields = new ArrayList<>();
  private int dense;
  private int ids;

  /** @param complete false: statistics that lack are left out */
  FieldBuilder(List<String> columns, FeatureStatistics statistics, FeatureStatistics.Needs needs, boolean complete) {
    this.columns = columns;
    this.statistics = statistics;
    this.needs = needs;
    this.complete = complete;
  }

  List<FeatureField> fields() {
    return fields;
  }

  int dense() {
    return dense;
  }

  int ids() {
    return ids;
  }

  /** Adds the fields of a feature and returns their steps. */
  List<FeatureStep> steps(Feature feature) {
    if (feature instanceof NumberFeature number) {
      return List.of(new FeatureStep.OfNumber(denseField(number.name(), number.missing()), number, column(number.column()),
          numbers(number.name())));
    } else if (feature instanceof BucketFeature bucket) {
      IdNamespace namespace = new IdNamespace(IdCoding.of(bucket.namespace()), null);
      return List.of(new FeatureStep.OfBucket(idField(bucket.name(), Kind.IDS, 1, bucket.missing(), namespace), bucket,
          column(bucket.column()), namespace, bounds(bucket)));
    } else if (feature instanceof CrossFeature cross) {
      IdNamespace namespace = new IdNamespace(IdCoding.of(cross.namespace()), null);
      return List.of(new FeatureStep.OfCross(idField(cross.name(), Kind.IDS, 1, Missing.NONE, namespace), cross, namespace));
    } else if (feature instanceof TimeFeature time) {
      return List.of(timeStep(time));
    } else if (feature instanceof IdFeature id) {
      return List.of(idsStep(id, id.column(), Kind.IDS, 1, id.missing(), new FeatureStep.OfIds.Rules(true, 0, "", "", Keep.FIRST,
          Pooling.SUM)));
    } else if (feature instanceof IdsFeature several) {
      return List.of(idsStep(several, several.column(), Kind.IDS, several.max(), several.missing(), new FeatureStep.OfIds.Rules(false, 0,
          several.separator(), several.weightSeparator(), Keep.FIRST, several.pooling())));
    } else if (feature instanceof SequenceFeature sequence) {
      return List.of(idsStep(sequence, sequence.column(), Kind.SEQUENCE, sequence.max(), sequence.missing(),
          new FeatureStep.OfIds.Rules(false, 0, sequence.separator(), "", sequence.keep(), Pooling.MEAN)));
    } else if (feature instanceof TextFeature text) {
      return List.of(idsStep(text, text.column(), Kind.IDS, text.max(), text.missing(), new FeatureStep.OfIds.Rules(false, text.ngrams(),
          "", "", Keep.FIRST, text.pooling())));
    }
    throw new IllegalStateException("feature " + feature);
  }

  private FeatureStep idsStep(Feature feature, String column, Kind kind, int max, Missing missing, FeatureStep.OfIds.Rules rules) {
    IdNamespace namespace = namespace(feature);
    return new FeatureStep.OfIds(idField(feature.name(), kind, max, missing, namespace), column, column(column), missing, rules, namespace);
  }

  private FeatureStep timeStep(TimeFeature time) {
    List<FeatureField> parts = new ArrayList<>();
    List<IdNamespace> namespaces = new ArrayList<>();
    NumberStatistics age = UNKNOWN;
    for (TimeFeature.Part part : time.parts()) {
      String name = part.field(time.name());
      IdNamespace namespace = new IdNamespace(IdCoding.of(name), null);
      namespaces.add(namespace);
      if (part == TimeFeature.Part.AGE_DAYS) {
        age = numbers(name);
        parts.add(denseField(name, time.missing()));
      } else {
        parts.add(idField(name, Kind.IDS, 1, time.missing(), namespace));
      }
    }
    return new FeatureStep.OfTime(parts, namespaces, time, column(time.column()), age);
  }

  private int column(String name) {
    return columns.indexOf(name);
  }

  private FeatureField denseField(String name, Missing missing) {
    FeatureField field = new FeatureField(name, Kind.DENSE, dense, missing == Missing.OWN ? 2 : 1, DistinctIds.PADDING);
    dense += field.width();
    fields.add(field);
    return field;
  }

  private FeatureField idField(String name, Kind kind, int width, Missing missing, IdNamespace namespace) {
    FeatureField field = new FeatureField(name, kind, ids, width,
        missing == Missing.OWN ? namespace.missing() : DistinctIds.PADDING);
    ids = Math.addExact(ids, width);
    fields.add(field);
    return field;
  }

  private IdNamespace namespace(Feature feature) {
    IdCoding coding = FeatureTransform.coding(feature);
    if (!needs.minCounts().containsKey(coding.namespace())) {
      return new IdNamespace(coding, null);
    }
    Vocabulary vocabulary = statistics.vocabularies().get(coding.namespace());
    return new IdNamespace(coding, vocabulary != null ? vocabulary : lacking(feature.name(), "vocabulary", EMPTY));
  }

  private NumberStatistics numbers(String field) {
    NumberStatistics numbers = statistics.numbers().get(field);
    return numbers != null ? numbers : needs.numbers().contains(field) ? lacking(field, "mean", UNKNOWN) : UNKNOWN;
  }

  private List<Double> bounds(BucketFeature bucket) {
    if (!needs.quantiles().containsKey(bucket.name())) {
      return bucket.bounds();
    }
    List<Double> bounds = statistics.bounds().get(bucket.name());
    List<Double> found = bounds != null ? bounds : lacking(bucket.name(), "bounds", List.<Double>of());
    BucketFeature.increasing(bucket.name(), found);
    return found;
  }

  private <T> T lacking(String name, String what, T standIn) {
    if (complete) {
      throw new InvalidInput("the statistics hold no " + what + " of the feature " + name
          + ": compute them again with ./regatta analyze");
    }
    return standIn;
  }
}
