package io.regatta.core.feature;

import java.util.List;

/** A declared feature: the rules by which columns of a row become floats or ids of an example. Immutable. */
public sealed interface Feature
    permits IdFeature, NumberFeature, BucketFeature, IdsFeature, SequenceFeature, CrossFeature, TextFeature, TimeFeature {

  /** The meaning of a missing value. */
  enum Missing {
    /** A value of its own: an id with a row of its own, or a second float that is 1. */
    OWN,
    /** No id; for numbers, the value of {@link NumberFeature#fill}. */
    NONE,
    /** A row without the value is bad. */
    REFUSE
  }

  /** The combination of the vectors of several ids of one feature. */
  enum Pooling {
    /** The sum, each vector times its weight. */
    SUM,
    /** The sum divided by the sum of the weights; 0 if that is 0. */
    MEAN
  }

  String name();

  /** Returns the columns that this feature reads. */
  List<String> columns();

  /** Returns the fields of other features that this feature reads. */
  default List<String> of() {
    return List.of();
  }
}
