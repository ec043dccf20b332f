package io.regatta.trainer.rank;

import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.Dataset;
import ai.djl.translate.TranslateException;
import io.regatta.trainer.session.TrainerSession;
import io.regatta.trainer.snapshot.StartingPoint;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/** The passes over this replica's own partition of the training data. Belongs to the model thread. */
final class OwnPasses implements TrainingPasses {

  private final TrainerSession session;
  private final TrainingData data;

  OwnPasses(TrainerSession session, TrainingData data) {
    this.session = session;
    this.data = data;
  }

  @Override
  public long resume(StartingPoint start, long made) {
    int rank = session.trainer().rank();
    data.resume(start, rank, session.worldSize());
    return start.batches(rank, session.worldSize());
  }

  /**
   * Returns the batches of a pass; a pass that another number of replicas had begun is read in the parts that these
   * have left.
   */
  @Override
  public Iterable<Batch> batches(Dataset dataset, NDManager manager, Reading reading) throws IOException, TranslateException {
    if (data.isBehind(dataset)) {
      return List.of();
    }
    Optional<PartsOfPass> rest = data.rest(dataset);
    return rest.isPresent() ? rest.get().batches(manager) : reading.batches(dataset);
  }

  @Override
  public boolean areOwn() {
    return true;
  }

  @Override
  public void requireAssigned() {}
}
