package io.regatta.trainer.rank;

import io.regatta.core.exchange.TrainerProgress;
import io.regatta.trainer.replica.RankSteps;
import io.regatta.trainer.replica.ReplicaContext;
import io.regatta.trainer.session.TrainerSession;
import java.util.List;

/**
 * The steps that a replica has made, compared with the job's limit. In an elastic job they are those of the run, in
 * which every rank takes part. Belongs to the model thread.
 */
final class ReplicaSteps {

  private final TrainerSession session;
  private final RankSteps rank;
  private final int replica;
  private long made;

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

  /**
   * Resumes a run in which this replica has made the given steps; a newcomer to an elastic job has those of the others.
   */
  void resumeAt(long localSteps) {
    made = session.isElastic() ? rank.steps() : localSteps;
  }

  /**
   * Notes the position in the data at which the next step ends.
   *
   * @param parts empty if it is not known
   * @param examples that it trains
   */
  void coming(List<TrainerProgress.Part> parts, long examples) {
    rank.coming(replica, new TrainerProgress.Replica(made + 1, session.isElastic() ? List.of() : parts),
        examples);
  }

  /** Counts a step with the given examples. */
  void count(long examples) {
    session.trained(examples);
    made = session.isElastic() ? Math.max(made, rank.steps()) : made + 1;
    session.stepped(Math.max(made, rank.steps()));
  }

  /**
   * Counts steps of the others in which the rank has taken part, in an elastic job. Returns true if there are any new
   * ones.
   */
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
