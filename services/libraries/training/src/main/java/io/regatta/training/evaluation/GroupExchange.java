package io.regatta.training.evaluation;

import io.regatta.core.metrics.GroupedExamples;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The exchange of examples by group among replicas. Each group belongs to one replica by a hash of its id. All examples
 * pass all replicas in all-reduces of a fixed size, in which each replica has places of its own; each keeps the examples
 * of its groups. Stateless.
 */
final class GroupExchange {

  /** Numbers of one all-reduce: about as many as those of {@code BinaryMetrics}. */
  private static final int EXCHANGED = 1 << 17;

  private GroupExchange() {}

  /** Returns the number of examples of all replicas. All must call it. */
  static long all(Ranks ranks, GroupedExamples mine) {
    return (long) Arrays.stream(counts(ranks, mine)).sum();
  }

  private static double[] counts(Ranks ranks, GroupedExamples mine) {
    double[] counts = new double[ranks.count()];
    counts[ranks.index()] = mine.count();
    return ranks.sum().apply(counts);
  }

  /**
   * Returns the sums over the groups of all replicas; empty if they have more examples than the limit. All replicas must
   * call it.
   *
   * @param limit most examples
   * @param empty creates an instance without examples
   */
  static Optional<double[]> sums(Ranks ranks, GroupedExamples mine, long limit, Supplier<? extends GroupedExamples> empty) {
    double[] counts = counts(ranks, mine);
    if (Arrays.stream(counts).sum() > limit) {
      return Optional.empty();
    }
    GroupedExamples own = mine;
    if (ranks.count() > 1) {
      own = empty.get();
      long longest = (long) Arrays.stream(counts).max().orElse(0);
      int each = Math.max(1, EXCHANGED / mine.parts() / ranks.count());
      for (long from = 0; from < longest; from += each) {
        int room = (int) Math.min(each, longest - from);
        double[] places = new double[ranks.count() * room * mine.parts()];
        mine.write(from, room, places, ranks.index() * room * mine.parts());
        own.read(ranks.sum().apply(places), group -> owner(group, ranks.count()) == ranks.index());
      }
    }
    return Optional.of(ranks.sum().apply(own.sums()));
  }

  /** Returns the replica to which a group belongs; mixed, as ids may have a pattern. */
  private static int owner(long group, int replicas) {
    long mixed = (group ^ group >>> 32) * 0x9E3779B97F4A7C15L;
    return (int) ((mixed >>> 33) % replicas);
  }
}
