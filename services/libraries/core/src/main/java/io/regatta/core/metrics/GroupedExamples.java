package io.regatta.core.metrics;

import java.util.function.LongPredicate;

/**
 * Examples by group, for metrics that need every example of a group in one place. Several instances exchange examples,
 * so that each group lies in one of them, and then add up their sums. Not thread-safe; one owner.
 */
public interface GroupedExamples {

  /** Returns the number of doubles by which {@link #write} represents an example. */
  int parts();

  /** Returns the number of examples, including those beyond the limit. */
  long count();

  /**
   * Writes examples to {@code out} from {@code at} on, {@link #parts} whole numbers each, which can be added to zeros
   * without a loss.
   *
   * @param from number of the first example
   * @param most examples that are written; fewer if there are no more
   */
  void write(long from, int most, double[] out, int at);

  /**
   * Adds examples that {@link #write} has written; places with zeros hold none.
   *
   * @param own selects the groups whose examples are added
   */
  void read(double[] written, LongPredicate own);

  /** Returns the sums over the groups of this instance, to all-reduce with SUM. All examples of a group must be here. */
  double[] sums();
}
