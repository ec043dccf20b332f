package io.regatta.training.evaluation;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.metrics.GroupAuc;
import io.regatta.core.reduce.DistinctIds;
import io.regatta.data.Layout;
import io.regatta.training.config.EvaluationConfig;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * AUC by the groups that the first id of a slot names ({@link GroupAuc}). Each group belongs to one replica by a hash
 * of its id. All examples pass all replicas in all-reduces of a fixed size, in which each replica has places of its own;
 * each keeps the examples of its groups. Examples whose slot holds no value belong to no group.
 */
final class GroupAucEvaluation implements EvaluationMetric {

  private static final Logger LOG = LoggerFactory.getLogger(GroupAucEvaluation.class);

  /** Numbers of one all-reduce: about as many as those of {@code BinaryMetrics}. */
  private static final int EXCHANGED = 1 << 17;

  private final int slot;
  private final int limit;
  /** Null once the result is known from all replicas. */
  private GroupAuc groups;
  /** Null until the sums are known, or have been found to exceed the limit. */
  private GroupAuc.Result result;

  private GroupAucEvaluation(int slot, int limit) {
    this.slot = slot;
    this.limit = limit;
    groups = new GroupAuc(limit);
  }

  /** Returns the metric if the configuration names a slot of it. */
  static Optional<EvaluationMetric> of(EvaluationConfig config, Layout layout) {
    if (config.gaucSlot() < -1 || config.gaucSlot() >= layout.slots()) {
      throw new InvalidInput("settings.gauc_slot is " + config.gaucSlot() + ", but the examples have " + layout.slots()
          + " slots: give a number from 0 to " + (layout.slots() - 1) + ", or -1 for none");
    }
    if (config.gaucLimit() < 1 || config.gaucLimit() > GroupAuc.LIMIT_MAX) {
      throw new InvalidInput("settings.gauc_limit is " + config.gaucLimit() + ": it must be 1 to "
          + GroupAuc.LIMIT_MAX);
    }
    return config.gaucSlot() < 0 ? Optional.empty()
        : Optional.of(new GroupAucEvaluation(config.gaucSlot(), config.gaucLimit()));
  }

  @Override
  public void add(Predictions batch) {
    for (int i = 0; i < batch.size(); i++) {
      long group = batch.firstId(i, slot);
      if (group != DistinctIds.PADDING) {
        groups.add(group, batch.probabilities()[i], batch.labels()[i]);
      }
    }
  }

  @Override
  public void merge(Ranks ranks) {
    double[] counts = new double[ranks.count()];
    counts[ranks.index()] = groups.count();
    counts = ranks.sum().apply(counts);
    long all = (long) Arrays.stream(counts).sum();
    if (all > limit) {
      groups = null;
      result = leftOut(all, ranks.index() == 0);
      return;
    }
    GroupAuc own = ranks.count() == 1 ? groups : exchanged(ranks, (long) Arrays.stream(counts).max().orElse(0));
    groups = null; // before the next metric
    result = GroupAuc.ofSums(ranks.sum().apply(own.sums()));
    warnIfEmpty(ranks.index() == 0);
  }

  /** Returns the examples of the groups that belong to this replica. */
  private GroupAuc exchanged(Ranks ranks, long longest) {
    GroupAuc own = new GroupAuc(limit);
    int each = Math.max(1, EXCHANGED / GroupAuc.PARTS / ranks.count());
    for (long from = 0; from < longest; from += each) {
      int room = (int) Math.min(each, longest - from);
      double[] places = new double[ranks.count() * room * GroupAuc.PARTS];
      groups.write(from, room, places, ranks.index() * room * GroupAuc.PARTS);
      own.read(ranks.sum().apply(places), group -> owner(group, ranks.count()) == ranks.index());
    }
    return own;
  }

  /** Returns the replica to which a group belongs; mixed, as ids may have a pattern. */
  private static int owner(long group, int replicas) {
    long mixed = (group ^ group >>> 32) * 0x9E3779B97F4A7C15L;
    return (int) ((mixed >>> 33) % replicas);
  }

  private GroupAuc.Result leftOut(long all, boolean logged) {
    if (logged) {
      LOG.warn("gauc is left out: {} test examples have an id in slot {}, more than settings.gauc_limit, {}; raise it "
          + "if there is memory for {} bytes per example and replica", all, slot, limit, 2 * GroupAuc.EXAMPLE_BYTES);
    }
    return new GroupAuc.Result(Double.NaN, 0, 0);
  }

  private void warnIfEmpty(boolean logged) {
    if (logged && result.groups() == 0) {
      LOG.warn("gauc is left out: no group of slot {} has both positive and negative test examples", slot);
    }
  }

  @Override
  public List<Value> values() {
    if (result == null) {
      result = groups.count() > limit ? leftOut(groups.count(), true) : GroupAuc.ofSums(groups.sums());
      warnIfEmpty(groups.count() <= limit);
    }
    return result.groups() == 0 ? List.of()
        : List.of(new Value("gauc", result.gauc(), true), new Value("gauc_groups", result.groups(), false));
  }
}
