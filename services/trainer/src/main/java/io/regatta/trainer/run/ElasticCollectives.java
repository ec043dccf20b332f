package io.regatta.trainer.run;

import io.regatta.core.reduce.Elementwise;
import io.regatta.trainer.djl.ReplicaGroup;
import io.regatta.trainer.session.ElasticRank;
import java.nio.DoubleBuffer;
import java.util.List;
import java.util.function.Supplier;

/**
 * {@link RankCollectives} among the ranks of an elastic job: each is a call that those who are lost on the way are no part of, and
 * that a newcomer whose program comes to it later makes alone, with its own values. Belongs to the rank's model thread.
 */
final class ElasticCollectives {

  private final ElasticRank rank;
  private final ReplicaGroup group;

  ElasticCollectives(ElasticRank rank, ReplicaGroup group) {
    this.rank = rank;
    this.group = group;
  }

  /** All ranks' values in the order of ranks. The others' steps come first: this rank trains no more of its pass. */
  List<double[]> gather(String operation, double[] values) {
    group.joinOthersSteps();
    return rank.calls().gather(operation, values);
  }

  double[] reduce(String operation, Elementwise how, double[] values) {
    return how.reduce(gather(operation, values).stream().map(DoubleBuffer::wrap).toList());
  }

  double[] byTheLowest(String operation, boolean able, Supplier<double[]> deed) {
    group.joinOthersSteps();
    return rank.calls().byTheLowest(operation, able, deed);
  }
}
