package io.regatta.training.rank;

import io.regatta.core.exchange.TrainerProgress;
import io.regatta.training.replica.RankSteps;
import io.regatta.training.replica.ReplicaContext;
import io.regatta.training.session.TrainerSession;
import java.util.List;

/**
 * How many steps a replica has made, and whether they are enough for the job. In an elastic job they are those of the run, in which
 * every rank takes part. Belongs to the model thread.
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

  /** Steps so far of the whole run, as this replica counts them. */
  long made() {
    return made;
  }

  /** Whether the job's {@code max_steps} have been made. */
  boolean areEnough() {
    long limit = session.job().maxSteps();
    return limit > 0 && made >= limit;
  }

  /** Resumes a run in which this replica has made so many steps; a newcomer to an elastic job has those that the others made. */
  void resumeAt(long localSteps) {
    made = session.isElastic() ? rank.steps() : localSteps;
  }

  /**
   * The step that comes next ends at this place in the data.
   *
   * @param parts empty if it is not known
   * @param examples that it trains
   */
  void coming(List<TrainerProgress.Part> parts, long examples) {
    rank.coming(replica, new TrainerProgress.Replica(made + 1, session.isElastic() ? List.of() : parts),
        examples);
  }

  /** The replica has made a step, with so many examples. */
  void count(long examples) {
    session.trained(examples);
    made = session.isElastic() ? Math.max(made, rank.steps()) : made + 1;
    session.stepped(Math.max(made, rank.steps()));
  }

  /** In an elastic job: the rank may have taken part in steps of the others. Returns whether there are any that did not count yet. */
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
