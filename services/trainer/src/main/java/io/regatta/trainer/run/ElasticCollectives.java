package io.regatta.trainer.run;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.reduce.Elementwise;
import io.regatta.trainer.config.JobConfig;
import io.regatta.trainer.djl.ReplicaGroup;
import io.regatta.trainer.session.RankOperations;
import java.nio.DoubleBuffer;
import java.util.List;
import java.util.function.Supplier;

/**
 * {@link RankCollectives} among the ranks of an elastic job: each is a call that those who are lost on the way are no part of, and
 * that a newcomer whose program comes to it later makes alone, with its own values. Belongs to the rank's model thread.
 */
final class ElasticCollectives {

  private final JobConfig job;
  private final RankOperations rank;
  private final ReplicaGroup group;

  ElasticCollectives(JobConfig job, RankOperations rank, ReplicaGroup group) {
    this.job = job;
    this.rank = rank;
    this.group = group;
  }

  /** All ranks' values in the order of ranks. The others' steps come first: this rank has trained all of its pass. */
  List<double[]> gather(String operation, double[] values) {
    joinOthersSteps(operation);
    return rank.calls().gather(operation, values);
  }

  double[] reduce(String operation, Elementwise how, double[] values) {
    return how.reduce(gather(operation, values).stream().map(DoubleBuffer::wrap).toList());
  }

  double[] byTheLowest(String operation, boolean able, Supplier<double[]> deed) {
    joinOthersSteps(operation);
    return rank.calls().byTheLowest(operation, able, deed);
  }

  /**
   * Refuses a call in the middle of a pass: of ranks that come, or have fewer batches than others, the programs do not get to the
   * same place, and a pass that ended for all with the first one's call would leave examples untrained.
   */
  private void joinOthersSteps(String operation) {
    boolean enough = job.maxSteps() > 0 && group.steps().steps() >= job.maxSteps();
    if (!enough && !rank.passes().next().isEmpty()) {
      throw new InvalidInput("job " + job.job() + " is elastic, and the program of trainer " + rank.peers().rank() + " calls "
          + operation + " in the middle of a pass, with " + rank.passes().left() + " of its examples not trained; call it behind the "
          + "pass, once its iterator has no more batches, and end passes early by max_steps");
    }
    group.joinOthersSteps();
  }
}
