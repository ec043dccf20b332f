package io.regatta.core.feature;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.List;

/**
 * The rules by which values become ids. Immutable.
 *
 * @param namespace seed of the ids; features of one namespace share their rows
 * @param minCount values that occur less often in training share the rare id; 1: none do, and no statistics are needed
 * @param hashBuckets number of different ids; 0: no limit
 * @param vocabulary the values that do not share the rare id; empty: any
 * @param whole true if values are whole numbers, which are the same with and without a sign and leading zeros
 */
public record IdCoding(String namespace, long minCount, long hashBuckets, List<String> vocabulary, boolean whole) {

  public IdCoding {
    vocabulary = List.copyOf(vocabulary);
    Names.check("the namespace", namespace);
    if (minCount < 1) {
      throw new InvalidInput("the ids of " + namespace + " need a count of " + minCount + ": it must be 1 or more");
    }
    if (hashBuckets < 0) {
      throw new InvalidInput("the ids of " + namespace + " have " + hashBuckets + " buckets: give 1 or more, or 0 for no limit");
    }
    if ((minCount > 1 ? 1 : 0) + (hashBuckets > 0 ? 1 : 0) + (vocabulary.isEmpty() ? 0 : 1) > 1) {
      throw new InvalidInput("the ids of " + namespace + " have more than one of a minimum count, hash buckets and a "
          + "vocabulary: give one of them");
    }
  }

  /** Creates the rules for text of which each value has an id of its own. */
  public static IdCoding of(String namespace) {
    return new IdCoding(namespace, 1, 0, List.of(), false);
  }

  /** Returns what differs from other rules of the namespace, with both values. */
  String difference(IdCoding other) {
    return minCount != other.minCount ? "the minimum count, " + minCount + " and " + other.minCount
        : hashBuckets != other.hashBuckets ? "the hash buckets, " + hashBuckets + " and " + other.hashBuckets
        : whole != other.whole ? "whole, " + whole + " and " + other.whole
        : "the vocabulary, of " + vocabulary.size() + " and " + other.vocabulary.size() + " values";
  }
}
