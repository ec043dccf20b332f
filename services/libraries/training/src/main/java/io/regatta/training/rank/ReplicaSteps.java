package io.regatta.training.rank;

import io.regatta.core.exchange.TrainerProgress;
import io.regatta.training.replica.RankSteps;
import io.regatta.training.replica.ReplicaContext;
import io.regatta.training.session.TrainerSession;
import java.util.List;

/**
 * The steps that a replica has made, each by itself, compared with the job's limit. Belongs to the model thread.
 */
class ReplicaSteps {

  final RankSteps rank;
  long made;
  private final TrainerSession session;
  private final int replica;

  ReplicaSteps(ReplicaContext replica) {
    session = replica.session();
    rank = replica.group().steps();
    this.replica = replica.replica();
  }

  /** Returns the steps of the whole run so far, as this replica counts them. */
  long made() {
    return made;
  }

  /** Returns true if the job's {@code max_steps} have been made. */
  boolean areEnough() {
    long limit = session.job().maxSteps();
    return limit > 0 && made >= limit;
  }

  /** Resumes a run in which this replica has made the given steps. */
  void resumeAt(long localSteps) {
    made = localSteps;
  }

  /** Returns the steps that a snapshot counts for this replica. */
  long forSnapshot() {
    return made;
  }

  /**
   * Notes the position in the data at which the next step ends.
   *
   * @param parts empty if it is not known
   * @param examples that it trains
   */
  void coming(List<TrainerProgress.Part> parts, long examples) {
    rank.coming(replica, new TrainerProgress.Replica(made + 1, parts),
        examples);
  }

  /** Counts a step with the given examples. */
  void count(long examples) {
    session.trained(examples);
    made = afterOneMore();
    session.stepped(Math.max(made, rank.steps()));
  }

  /** Returns the count after a step that the replica has made. */
  long afterOneMore() {
    return made + 1;
  }

  /** Counts steps of the others in which the rank has taken part. Returns whether there are any that did not count yet. */
  boolean countOthers() {
    long all = rank.steps();
    if (all <= made) {
      return false;
    }
    made = all;
    session.stepped(made);
    return true;
  }

  /** Continues from the step on which all ranks agreed, also on a rank that had no data for the others' last ones. */
  void resumeFrom(long agreed) {
    made = Math.max(made, agreed);
  }
}
