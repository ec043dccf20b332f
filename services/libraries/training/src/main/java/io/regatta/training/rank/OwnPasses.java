package io.regatta.training.rank;

import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.Dataset;
import ai.djl.translate.TranslateException;
import io.regatta.training.session.TrainerSession;
import io.regatta.training.snapshot.StartingPoint;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/** Passes over the part of the training data that is this replica's own. Belongs to the model thread. */
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
    data.goOn(start, rank, session.worldSize());
    return start.batches(rank, session.worldSize());
  }

  /** A pass that another number of replicas had begun is read in the parts that these have left of it. */
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
