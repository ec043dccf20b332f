package io.regatta.training.rank;

import io.regatta.core.exchange.TrainerProgress;
import io.regatta.training.replica.ReplicaContext;
import java.util.List;

/**
 * The steps of a run in which every rank takes part, also without an example: those of an elastic job. A newcomer
 * begins with the steps of the others, and the ledger holds the positions in the data. Belongs to the model thread.
 */
final class RunSteps extends ReplicaSteps {

  RunSteps(ReplicaContext replica) {
    super(replica);
  }

  @Override
  void resumeAt(long localSteps) {
    super.resumeAt(rank.steps());
  }

  @Override
  long forSnapshot() {
    return rank.steps();
  }

  @Override
  void coming(List<TrainerProgress.Part> parts, long examples) {
    super.coming(List.of(), examples);
  }

  @Override
  long afterOneMore() {
    return Math.max(made, rank.steps());
  }
}
