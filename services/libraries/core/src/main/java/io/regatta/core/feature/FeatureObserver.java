package io.regatta.core.feature;

/** A collector of the values from which statistics are computed. One thread. */
public interface FeatureObserver {

  /** Adds a clipped and transformed number, before it is scaled. */
  void number(String field, double value);

  /** Adds a number for the bounds of buckets. */
  void bucketed(String feature, double value);

  /** Adds a value {@code utf8[from..to)} of a namespace, with its id. */
  void value(String namespace, byte[] utf8, int from, int to, long id);
}
