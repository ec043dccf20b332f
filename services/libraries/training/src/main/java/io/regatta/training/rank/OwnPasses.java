package io.regatta.training.rank;

import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.Dataset;
import ai.djl.translate.TranslateException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.DataCursor;
import io.regatta.training.replica.ReplicaContext;
import io.regatta.training.session.ElasticState;
import io.regatta.training.session.TrainerSession;
import io.regatta.training.snapshot.SnapshotState;
import io.regatta.training.snapshot.StartingPoint;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** The passes over this replica's own partition of the training data. Belongs to the model thread. */
final class OwnPasses implements TrainingPasses {

  private final TrainerSession session;
  private final TrainingData data;
  private final ReplicaSteps steps;

  OwnPasses(ReplicaContext replica, TrainingData data) {
    session = replica.session();
    this.data = data;
    steps = new ReplicaSteps(replica);
  }

  @Override
  public ReplicaSteps steps() {
    return steps;
  }

  /**
   * Refuses to resume a job that is not elastic within a pass of an elastic one: its progress cannot be expressed in
   * batches of each rank.
   */
  @Override
  public void requireResumable(StartingPoint start) {
    if (start.resume() && SnapshotState.of(start).pass() >= 0) {
      throw new InvalidInput("job " + session.job().job() + ": " + start.dir() + " was taken within a pass of an elastic job, and only "
          + "such a job can resume within that pass; give collective.min_trainers, or name a snapshot that was taken after "
          + "a pass");
    }
  }

  @Override
  public void begin(StartingPoint start) {}

  @Override
  public boolean keeps(Supplier<ElasticState> state) {
    return false;
  }

  @Override
  public DataCursor resumePlace(DataCursor place) {
    return place;
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
