package io.regatta.core.metrics;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.LongPredicate;

/**
 * NDCG of the order that scores give the examples of each group, such as the results of one query. The gain is the
 * label, the discount {@code 1 / log2(1 + rank)}, and the result the mean over the groups (Järvelin and Kekäläinen,
 * "Cumulated gain-based evaluation of IR techniques", 2002). Examples of equal score share the mean of their gains, as in
 * scikit-learn's {@code ndcg_score}. Groups whose labels are all 0 do not count. Not thread-safe; one owner.
 *
 * <p>It needs every example of a group in one place, see {@link GroupAuc}: several instances exchange examples by
 * {@link #write} and {@link #read}, and then add up their {@link #sums}.
 */
public final class GroupRanking implements GroupedExamples {

  /** Bits of a float and a mark. */
  private static final long PRESENT = 1L << 32;
  private static final double LOG2 = StrictMath.log(2);
  private static final long LOW = 0xffffffffL;

  private record Example(long group, float score, float label) {}

  /** Group by group, in descending order of scores. */
  private static final Comparator<Example> ORDER = Comparator.comparingLong(Example::group)
      .thenComparing((a, b) -> Float.compare(b.score, a.score)).thenComparing((a, b) -> Float.compare(b.label, a.label));

  private final List<Integer> cuts;
  private final int limit;
  private final List<Example> kept = new ArrayList<>();
  private long count;

  /**
   * Creates an empty instance.
   *
   * @param cuts numbers k of NDCG@k
   * @param limit most examples that are kept
   */
  public GroupRanking(List<Integer> cuts, int limit) {
    this.cuts = List.copyOf(cuts);
    this.limit = limit;
    if (cuts.isEmpty() || cuts.stream().anyMatch(k -> k < 1)) {
      throw new InvalidInput("NDCG@k needs numbers k of at least 1, not " + cuts);
    }
  }

  /** Adds an example: its group, its score, and its label, which is not negative. */
  public void add(long group, float score, float label) {
    if (Float.isNaN(score) || !(label >= 0)) {
      throw new InvalidInput("score " + score + " and label " + label + " cannot be ranked: scores must be numbers (NaN "
          + "means that training has diverged), and labels at least 0");
    }
    count++;
    if (kept.size() < limit) {
      kept.add(new Example(group, score, label));
    }
  }

  @Override
  public long count() {
    return count;
  }

  @Override
  public int parts() {
    return 4;
  }

  @Override
  public void write(long from, int most, double[] out, int at) {
    for (int i = (int) Math.min(kept.size(), from), to = at; i < kept.size() && i < from + most; i++) {
      Example e = kept.get(i);
      out[to++] = e.group >>> 32;
      out[to++] = e.group & LOW;
      out[to++] = PRESENT | Float.floatToRawIntBits(e.score) & LOW;
      out[to++] = Float.floatToRawIntBits(e.label) & LOW;
    }
  }

  @Override
  public void read(double[] written, LongPredicate own) {
    for (int at = 0; at < written.length; at += parts()) {
      long score = (long) written[at + 2];
      if (score >= PRESENT) {
        long group = (long) written[at] << 32 | (long) written[at + 1];
        if (own.test(group)) {
          add(group, Float.intBitsToFloat((int) score), Float.intBitsToFloat((int) (long) written[at + 3]));
        }
      }
    }
  }

  /** Returns the sums over the groups of this instance: their number, and NDCG for each cut. */
  @Override
  public double[] sums() {
    kept.sort(ORDER);
    ExactSum[] each = new ExactSum[cuts.size()];
    Arrays.setAll(each, i -> new ExactSum());
    long groups = 0;
    for (int from = 0; from < kept.size(); ) {
      int to = from + 1;
      while (to < kept.size() && kept.get(to).group == kept.get(from).group) {
        to++;
      }
      List<Example> group = kept.subList(from, to);
      if (group.stream().anyMatch(e -> e.label > 0)) {
        groups++;
        for (int i = 0; i < each.length; i++) {
          each[i].add(ndcg(group, cuts.get(i)));
        }
      }
      from = to;
    }
    double[] sums = new double[1 + each.length * ExactSum.PARTS];
    sums[0] = groups;
    for (int i = 0; i < each.length; i++) {
      each[i].write(sums, 1 + i * ExactSum.PARTS);
    }
    return sums;
  }

  /** Returns NDCG@k of examples in descending order of their scores. */
  private static double ndcg(List<Example> group, int k) {
    double gain = 0;
    for (int from = 0; from < Math.min(k, group.size()); ) {
      int to = from;
      double labels = 0;
      double discounts = 0;
      for (; to < group.size() && group.get(to).score == group.get(from).score; to++) {
        labels += group.get(to).label;
        discounts += to < k ? discount(to) : 0;
      }
      gain += labels / (to - from) * discounts;
      from = to;
    }
    float[] labels = new float[group.size()];
    for (int i = 0; i < labels.length; i++) {
      labels[i] = group.get(i).label;
    }
    Arrays.sort(labels);
    double ideal = 0;
    for (int i = 0; i < Math.min(k, labels.length); i++) {
      ideal += labels[labels.length - 1 - i] * discount(i);
    }
    return gain / ideal;
  }

  private static double discount(int place) {
    return LOG2 / StrictMath.log(place + 2.0);
  }

  /** Returns NDCG for each cut, then the number of groups, of {@link #sums} of one instance or added over several. */
  public double[] ofSums(double[] sums) {
    double[] result = new double[cuts.size() + 1];
    for (int i = 0; i < cuts.size(); i++) {
      ExactSum sum = new ExactSum();
      sum.read(sums, 1 + i * ExactSum.PARTS);
      result[i] = sum.value() / sums[0];
    }
    result[cuts.size()] = sums[0];
    return result;
  }
}
