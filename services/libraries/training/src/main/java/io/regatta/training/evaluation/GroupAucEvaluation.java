package io.regatta.training.evaluation;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.metrics.GroupAuc;
import io.regatta.core.reduce.DistinctIds;
import io.regatta.data.Layout;
import io.regatta.training.config.EvaluationConfig;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * AUC by groups of examples ({@link GroupAuc}, {@link GroupExchange}): those that the first id of a slot names, or those
 * that a key names. Examples without it belong to no group.
 */
final class GroupAucEvaluation implements EvaluationMetric {

  private static final Logger LOG = LoggerFactory.getLogger(GroupAucEvaluation.class);

  /** The group of an example; {@link DistinctIds#PADDING} if it belongs to none. */
  @FunctionalInterface
  private interface Groups {
    long of(Predictions batch, int example);
  }

  private final ScoredLabel label;
  private final Groups groupOf;
  private final int limit;
  /** Name of the groups, and key of the limit, for messages. */
  private final String groupsName;
  private final String limitKey;
  /** Null once the result is known from all replicas. */
  private GroupAuc groups;
  /** Null until the sums are known, or have been found to exceed the limit. */
  private GroupAuc.Result result;

  private GroupAucEvaluation(ScoredLabel label, Groups groupOf, int limit, String groupsName, String limitKey) {
    this.label = label;
    this.groupOf = groupOf;
    this.limit = limit;
    this.groupsName = groupsName;
    this.limitKey = limitKey;
    groups = new GroupAuc(limit);
  }

  /** Returns the metric if the configuration names a slot of it. */
  static Optional<EvaluationMetric> of(EvaluationConfig config, Layout layout) {
    int slot = config.gaucSlot();
    if (slot < -1 || slot >= layout.slots()) {
      throw new InvalidInput("settings.gauc_slot is " + slot + ", but the examples have " + layout.slots()
          + " slots: give a number from 0 to " + (layout.slots() - 1) + ", or -1 for none");
    }
    if (config.gaucLimit() < 1 || config.gaucLimit() > GroupAuc.LIMIT_MAX) {
      throw new InvalidInput("settings.gauc_limit is " + config.gaucLimit() + ": it must be 1 to "
          + GroupAuc.LIMIT_MAX);
    }
    return slot < 0 ? Optional.empty() : Optional.of(new GroupAucEvaluation(ScoredLabel.BINARY,
        (batch, example) -> batch.firstId(example, slot), config.gaucLimit(), "slot " + slot, "settings.gauc_limit"));
  }

  /** Returns the metric of a label by a key of its examples. */
  static EvaluationMetric ofKey(ScoredLabel label, KeyOfExamples key, int limit) {
    return new GroupAucEvaluation(label, (batch, example) -> batch.isMissing(example, key.at()) ? DistinctIds.PADDING
        : batch.hash(example, key.at()), limit, "column " + key.column(), "metrics.group_limit");
  }

  @Override
  public void add(Predictions batch) {
    for (int i = 0; i < batch.size(); i++) {
      long group = groupOf.of(batch, i);
      if (group != DistinctIds.PADDING && !batch.isMissing(i, label.labelAt())) {
        groups.add(group, batch.score(i, label.scoresAt()), batch.label(i, label.labelAt()));
      }
    }
  }

  @Override
  public void merge(Ranks ranks) {
    GroupAuc mine = groups;
    groups = null; // before the next metric
    Optional<double[]> sums = GroupExchange.sums(ranks, mine, limit, () -> new GroupAuc(limit));
    result = sums.isPresent() ? GroupAuc.ofSums(sums.get()) : leftOut(GroupExchange.all(ranks, mine), ranks.index() == 0);
    warnIfEmpty(sums.isPresent() && ranks.index() == 0);
  }

  private GroupAuc.Result leftOut(long all, boolean logged) {
    if (logged) {
      LOG.warn("gauc is left out: {} test examples have an id in {}, more than {}, {}; raise it "
          + "if there is memory for {} bytes per example and replica", all, groupsName, limitKey, limit, 2 * GroupAuc.EXAMPLE_BYTES);
    }
    return new GroupAuc.Result(Double.NaN, 0, 0);
  }

  private void warnIfEmpty(boolean logged) {
    if (logged && result.groups() == 0) {
      LOG.warn("gauc is left out: no group of {} has both positive and negative test examples", groupsName);
    }
  }

  @Override
  public List<Value> values() {
    if (result == null) {
      result = groups.count() > limit ? leftOut(groups.count(), true) : GroupAuc.ofSums(groups.sums());
      warnIfEmpty(groups.count() <= limit);
    }
    return result.groups() == 0 ? List.of()
        : List.of(new Value(label.prefix() + "gauc", result.gauc(), true),
            new Value(label.prefix() + "gauc_groups", result.groups(), false));
  }
}
