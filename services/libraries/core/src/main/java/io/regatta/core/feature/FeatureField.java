package io.regatta.core.feature;

/**
 * One field of a transformed example. Immutable.
 *
 * @param name of the feature; a part of a time has the name {@code feature.part}
 * @param offset of its first position in the floats or ids of an example
 * @param width floats, or ids at most
 * @param missingId id of a missing value; {@link io.regatta.core.reduce.DistinctIds#PADDING} if a missing value has none
 */
public record FeatureField(String name, Kind kind, int offset, int width, long missingId) {

  /** The content of a field. */
  public enum Kind {
    /** Floats. */
    DENSE,
    /** Ids, to be pooled. */
    IDS,
    /** Ids in order. */
    SEQUENCE
  }
}
