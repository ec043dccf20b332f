package io.regatta.training.evaluation;

import io.regatta.core.metrics.GroupRanking;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** NDCG by the groups of a label of kind rank ({@link GroupRanking}, {@link GroupExchange}). */
final class RankingEvaluation implements EvaluationMetric {

  private static final Logger LOG = LoggerFactory.getLogger(RankingEvaluation.class);

  private final ScoredLabel label;
  private final KeyOfExamples group;
  private final List<Integer> cuts;
  private final int limit;
  private GroupRanking groups;
  /** Sums of all replicas; null until they are known. */
  private double[] sums;
  private boolean tooMany;

  RankingEvaluation(ScoredLabel label, KeyOfExamples group, List<Integer> cuts, int limit) {
    this.label = label;
    this.group = group;
    this.cuts = cuts;
    this.limit = limit;
    groups = new GroupRanking(cuts, limit);
  }

  @Override
  public void add(Predictions batch) {
    for (int i = 0; i < batch.size(); i++) {
      if (!batch.isMissing(i, label.labelAt()) && !batch.isMissing(i, group.at())) {
        groups.add(batch.hash(i, group.at()), batch.score(i, label.scoresAt()), batch.label(i, label.labelAt()));
      }
    }
  }

  @Override
  public void merge(Ranks ranks) {
    sums = GroupExchange.sums(ranks, groups, limit, () -> new GroupRanking(cuts, limit)).orElse(null);
    tooMany = sums == null;
    warn(tooMany && ranks.index() == 0);
  }

  private static void warn(boolean logged) {
    if (logged) {
      LOG.warn("ndcg is left out: there are more test examples than metrics.group_limit; raise it if there is memory for them");
    }
  }

  @Override
  public List<Value> values() {
    if (sums == null && !tooMany) {
      tooMany = groups.count() > limit;
      warn(tooMany);
      sums = tooMany ? null : groups.sums();
    }
    List<Value> values = new ArrayList<>();
    if (sums != null) {
      double[] results = groups.ofSums(sums);
      for (int i = 0; i < cuts.size(); i++) {
        values.add(new Value(label.prefix() + "ndcg@" + cuts.get(i), results[i], true));
      }
      values.add(new Value(label.prefix() + "ndcg_groups", results[cuts.size()], false));
    }
    return values;
  }
}
