package io.regatta.core.reduce;

import io.regatta.core.dense.DenseValues;
import io.regatta.core.dense.WeightedSum;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.SparseRows;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * Merges pushes of several contributors into one: the weighted mean, summed in the order of each push's lowest rank,
 * so the result does not depend on the order of arrival. With a single push, or a single one of non-zero weight, the
 * result is that push bit for bit. Used by the shard (sync rounds), by the aggregator and by a trainer's replicas.
 *
 * <p>Rule: g = Σ_r (w_r / W) · g_r in rank order, W = Σ w_r; a sparse id that a push does not hold contributes zero.
 * With equal batches this is Paddle's transpiler rule: sum, then times 1 / trainers. Sums are float32, each factor is
 * rounded to float32 once. The dense sum is taken block by block as it is read, that of rows some at a time. Stateless;
 * the pushes are not changed, but the result reads their values and may share their arrays.
 */
public final class RoundReducer {

  /**
   * A merged push whose rows are still to be summed.
   *
   * @param push without its rows
   * @param rows one sum for each table
   */
  public record Begun(Push push, List<RowSum> rows) {

    private static Begun of(Push push) {
      return new Begun(withoutRows(push, push.dense()), push.sparse().stream().map(RowSum::of).toList());
    }
  }

  private RoundReducer() {}

  /**
   * Returns the merged push: contributors united in rank order, step of the first, lowest version; W = 0 gives an empty
   * one. Contributors of the same rank (a trainer's replicas) must agree on incarnation and sequence; their weights add
   * up.
   *
   * @throws InvalidInput if there is no push, or they do not fit together (step, lengths, contributors)
   */
  public static Push merge(List<Push> pushes) {
    if (pushes.size() == 1 && weight(pushes.get(0)) > 0) {
      return pushes.get(0);
    }
    Begun begun = begin(pushes, table -> new RowRoom());
    Push p = begun.push();
    List<SparseRows> rows = begun.rows().stream().map(RowSum::rows).toList();
    return new Push(p.contributors(), p.step(), p.version(), p.dense(), rows);
  }

  /**
   * Begins a merge as {@link #merge} does, for a caller that sums the rows step by step.
   *
   * @param rooms room to sum each table's rows in
   */
  public static Begun begin(List<Push> pushes, Function<String, RowRoom> rooms) {
    if (pushes.isEmpty()) {
      throw new InvalidInput("a round of no pushes cannot be merged");
    }
    if (pushes.size() == 1) {
      return Begun.of(weight(pushes.get(0)) > 0 ? pushes.get(0) : withoutRows(pushes.get(0), null));
    }
    List<Push> ordered = new ArrayList<>(pushes);
    ordered.sort(Comparator.comparingInt(RoundReducer::lowestRank)); // stable: replicas keep the given order
    Push first = ordered.get(0);
    double total = 0;
    long version = Long.MAX_VALUE;
    List<Push> weighty = new ArrayList<>();
    for (Push p : ordered) {
      if (p.step() != first.step()) {
        throw new InvalidInput("pushes of steps " + first.step() + " and " + p.step() + " cannot be merged");
      }
      double w = weight(p);
      total += w;
      version = Math.min(version, p.version());
      if (w > 0) {
        weighty.add(p);
      }
    }
    List<Contributor> contributors = unite(ordered);
    if (weighty.size() <= 1) {
      Push only = weighty.isEmpty() ? withoutRows(first, null) : weighty.get(0);
      return Begun.of(new Push(contributors, first.step(), version, only.dense(), only.sparse(), only.finite()));
    }
    float[] factors = new float[weighty.size()];
    for (int i = 0; i < factors.length; i++) {
      factors[i] = (float) (weight(weighty.get(i)) / total);
    }
    Push merged = new Push(contributors, first.step(), version, dense(weighty, factors), List.of());
    return new Begun(merged, sparse(weighty, factors, rooms));
  }

  private static Push withoutRows(Push p, DenseValues dense) {
    return new Push(p.contributors(), p.step(), p.version(), dense, List.of());
  }

  private static int lowestRank(Push p) {
    return p.contributors().stream().mapToInt(Contributor::rank).min()
        .orElseThrow(() -> new InvalidInput("a push without contributors cannot be merged"));
  }

  private static double weight(Push p) {
    double w = 0;
    for (Contributor c : p.contributors()) {
      w += c.weight();
    }
    return w;
  }

  private static List<Contributor> unite(List<Push> pushes) {
    Map<Integer, Contributor> byRank = new TreeMap<>();
    for (Push p : pushes) {
      for (Contributor c : p.contributors()) {
        byRank.merge(c.rank(), c, RoundReducer::sameLife);
      }
    }
    return List.copyOf(byRank.values());
  }

  private static Contributor sameLife(Contributor a, Contributor b) {
    if (a.incarnation() != b.incarnation() || a.sequence() != b.sequence()) {
      throw new InvalidInput("two different pushes of trainer " + a.rank() + " in one round: " + a + " and " + b);
    }
    return new Contributor(a.rank(), a.incarnation(), a.sequence(), a.weight() + b.weight(), a.progress());
  }

  private static DenseValues dense(List<Push> pushes, float[] factors) {
    List<DenseValues> parts = new ArrayList<>();
    float[] partFactors = new float[factors.length];
    for (int p = 0; p < factors.length; p++) {
      DenseValues g = pushes.get(p).dense();
      if (g == null) {
        continue;
      }
      if (!parts.isEmpty() && g.size() != parts.get(0).size()) {
        throw new InvalidInput("dense gradients of " + parts.get(0).size() + " and " + g.size()
            + " elements in one round");
      }
      partFactors[parts.size()] = factors[p];
      parts.add(g);
    }
    return parts.isEmpty() ? null : new WeightedSum(parts, partFactors);
  }

  /** Returns one sum for each table, in the order in which tables first occur. */
  private static List<RowSum> sparse(List<Push> pushes, float[] factors, Function<String, RowRoom> rooms) {
    Map<String, RowSum> tables = new LinkedHashMap<>();
    for (int p = 0; p < factors.length; p++) {
      for (SparseRows rows : pushes.get(p).sparse()) {
        if (rows.ids().length > 0) {
          tables.computeIfAbsent(rows.table(), t -> new RowSum(t, rooms.apply(t))).add(factors[p], rows);
        }
      }
    }
    return List.copyOf(tables.values());
  }
}
