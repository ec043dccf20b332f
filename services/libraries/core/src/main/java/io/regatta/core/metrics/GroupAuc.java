package io.regatta.core.metrics;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.Arrays;
import java.util.function.LongPredicate;

/**
 * AUC within each group of examples, such as those of one user, averaged over the groups by their numbers of examples
 * (GAUC; Zhou et al., "Deep Interest Network for Click-Through Rate Prediction", KDD 2018). Groups without a positive
 * or without a negative do not count. Not thread-safe; one owner.
 *
 * <p>The AUC of a group is that of its predictions themselves, without buckets; equal predictions count half. It needs
 * every example of the group in one place: several instances exchange examples by {@link #write} and {@link #read}, so
 * that each group lies in one of them, and then add up their {@link #sums}. The result has the same bits for any number
 * of instances and any order of examples.
 *
 * <p>An example takes {@value #EXAMPLE_BYTES} bytes, whatever the number of groups, and 2.5 times that while the arrays
 * grow. Examples beyond a limit are counted but not kept; there is no result then.
 */
public final class GroupAuc implements GroupedExamples {

  /** Number of doubles by which {@link #write} represents an example. */
  public static final int PARTS = 2;
  /** Bytes that an example takes in memory. */
  public static final int EXAMPLE_BYTES = Long.BYTES + Integer.BYTES;

  /** Most examples that fit into an array. */
  public static final int LIMIT_MAX = 1 << 30;

  private static final float ROUNDING = 1e-5f;
  private static final int FIRST_ROOM = 1024;
  /** Bits of a prediction in [0, 1] and its label. */
  private static final int OUTCOME_BITS = 31;
  private static final int LOW_BITS = 16;
  private static final long LOW_MASK = (1L << LOW_BITS) - 1;
  /** Marks a place that holds an example. */
  private static final long PRESENT = 1L << LOW_BITS + OUTCOME_BITS;
  private static final int EXAMPLES_AT = ExactSum.PARTS;
  private static final int GROUPS_AT = ExactSum.PARTS + 1;

  private final int limit;
  private long[] groups = new long[0];
  /** The bits of each example's prediction, then a bit for its label: ordered as the predictions are. */
  private int[] outcomes = new int[0];
  private int kept;
  private long count;

  /**
   * The average over all groups.
   *
   * @param gauc NaN if no group has both classes
   * @param groups that have both classes
   * @param examples of these groups
   */
  public record Result(double gauc, long groups, long examples) {}

  /** @param limit most examples that are kept */
  public GroupAuc(int limit) {
    if (limit < 1 || limit > LIMIT_MAX) {
      throw new InvalidInput("AUC by group is limited to " + limit + " examples: the limit must be 1 to " + LIMIT_MAX);
    }
    this.limit = limit;
  }

  /** Adds one prediction: the example's group, the probability of the positive class, and the label 0 or 1. */
  public void add(long group, float probability, float label) {
    if (!(probability >= -ROUNDING && probability <= 1 + ROUNDING)) {
      throw new InvalidInput("prediction " + probability + " is not a probability in [0, 1]; NaN "
          + "means that training has diverged");
    }
    if (label != 0 && label != 1) {
      throw new InvalidInput("label " + label + " of a binary classifier must be 0 or 1");
    }
    float p = Math.max(0f, Math.min(1f, probability));
    keep(group, Float.floatToRawIntBits(p) << 1 | (int) label);
  }

  private void keep(long group, int outcome) {
    count++;
    if (kept == limit) {
      return;
    }
    if (kept == groups.length) {
      int room = (int) Math.min(limit, Math.max(FIRST_ROOM, kept + (long) kept / 2));
      groups = Arrays.copyOf(groups, room);
      outcomes = Arrays.copyOf(outcomes, room);
    }
    groups[kept] = group;
    outcomes[kept++] = outcome;
  }

  @Override
  public int parts() {
    return PARTS;
  }

  @Override
  public long count() {
    return count;
  }

  @Override
  public void write(long from, int most, double[] out, int at) {
    for (int i = (int) Math.min(kept, from), to = at; i < kept && i < from + most; i++) {
      out[to++] = groups[i] >>> LOW_BITS;
      out[to++] = PRESENT | (groups[i] & LOW_MASK) << OUTCOME_BITS | outcomes[i];
    }
  }

  @Override
  public void read(double[] written, LongPredicate own) {
    for (int at = 0; at < written.length; at += PARTS) {
      long second = (long) written[at + 1];
      if (second == 0) {
        continue;
      }
      if (second >>> LOW_BITS + OUTCOME_BITS != 1) {
        throw new InvalidInput("examples of AUC by group hold " + written[at + 1]
            + ", which is no example: two have been added in one place");
      }
      long group = (long) written[at] << LOW_BITS | second >>> OUTCOME_BITS & LOW_MASK;
      if (own.test(group)) {
        keep(group, (int) (second & (1L << OUTCOME_BITS) - 1));
      }
    }
  }

  /**
   * Returns the sums over the groups of this instance, to all-reduce with SUM and give to {@link #ofSums}. All examples
   * of a group must be here. Sorts the examples.
   */
  @Override
  public double[] sums() {
    it.unimi.dsi.fastutil.Arrays.quickSort(0, kept, this::compare, this::swap);
    ExactSum weighted = new ExactSum();
    long examples = 0;
    long counted = 0;
    for (int from = 0; from < kept; ) {
      int to = from + 1;
      while (to < kept && groups[to] == groups[from]) {
        to++;
      }
      double auc = auc(from, to);
      if (!Double.isNaN(auc)) {
        weighted.add((to - from) * auc);
        examples += to - from;
        counted++;
      }
      from = to;
    }
    double[] sums = new double[GROUPS_AT + 1];
    weighted.write(sums, 0);
    sums[EXAMPLES_AT] = examples;
    sums[GROUPS_AT] = counted;
    return sums;
  }

  /** Returns the AUC of a group's examples, in order of their predictions; NaN if a class is missing. */
  private double auc(int from, int to) {
    long positives = 0;
    long negatives = 0;
    long twiceArea = 0; // pairs in order count two, ties one: below 2^62
    for (int i = from; i < to; ) {
      long tiedPositives = 0;
      long tiedNegatives = 0;
      for (int tie = outcomes[i] >>> 1; i < to && outcomes[i] >>> 1 == tie; i++) {
        tiedPositives += outcomes[i] & 1;
        tiedNegatives += 1 - (outcomes[i] & 1);
      }
      twiceArea += tiedPositives * (2 * negatives + tiedNegatives);
      positives += tiedPositives;
      negatives += tiedNegatives;
    }
    return positives == 0 || negatives == 0 ? Double.NaN : twiceArea / (2.0 * positives * negatives);
  }

  private int compare(int a, int b) {
    int byGroup = Long.compare(groups[a], groups[b]);
    return byGroup != 0 ? byGroup : Integer.compare(outcomes[a], outcomes[b]);
  }

  private void swap(int a, int b) {
    long group = groups[a];
    groups[a] = groups[b];
    groups[b] = group;
    int outcome = outcomes[a];
    outcomes[a] = outcomes[b];
    outcomes[b] = outcome;
  }

  /** Returns the result of these {@link #sums}, of one instance or added over several. */
  public static Result ofSums(double[] sums) {
    if (sums.length != GROUPS_AT + 1) {
      throw new InvalidInput("an array of " + sums.length + " numbers is not the sums of AUC by group");
    }
    ExactSum weighted = new ExactSum();
    weighted.read(sums, 0);
    return new Result(weighted.value() / sums[EXAMPLES_AT], (long) sums[GROUPS_AT], (long) sums[EXAMPLES_AT]);
  }
}
