package io.regatta.trainer.rank;

import io.regatta.core.exchange.TrainerProgress;
import io.regatta.trainer.replica.RankSteps;
import io.regatta.trainer.replica.ReplicaContext;
import io.regatta.trainer.session.TrainerSession;
import java.util.List;

/**
 * Count of the steps of a replica, each of which it makes itself, and whether they are enough for the job. Belongs to the model
 * thread.
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

  /** Steps so far of the whole run, as this replica counts them. */
  long made() {
    return made;
  }

  /** Whether the job's {@code max_steps} have been made. */
  boolean areEnough() {
    long limit = session.job().maxSteps();
    return limit > 0 && made >= limit;
  }

  /** Resumes a run in which this replica has made so many steps. */
  void resumeAt(long localSteps) {
    made = localSteps;
  }

  /** Returns the steps that a snapshot counts for this replica. */
  long forSnapshot() {
    return made;
  }

  /**
   * The step that comes next ends at this place in the data.
   *
   * @param parts empty if it is not known
   * @param examples that it trains
   */
  void coming(List<TrainerProgress.Part> parts, long examples) {
    rank.coming(replica, new TrainerProgress.Replica(made + 1, parts),
        examples);
  }

  /** The replica has made a step, with so many examples. */
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

  /** All ranks go on from the same step, also one that had no data for the last ones of the others. */
  void goOnFrom(long agreed) {
    made = Math.max(made, agreed);
  }
}
