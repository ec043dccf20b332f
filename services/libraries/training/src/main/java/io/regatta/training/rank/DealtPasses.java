package io.regatta.training.rank;

import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.Dataset;
import ai.djl.translate.TranslateException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.DataCursor;
import io.regatta.training.dataset.SlotDataset;
import io.regatta.training.replica.ReplicaContext;
import io.regatta.training.replica.ReplicaGroup;
import io.regatta.training.session.ElasticPasses;
import io.regatta.training.session.ElasticState;
import io.regatta.training.session.RankOperations;
import io.regatta.training.session.TrainerSession;
import io.regatta.training.snapshot.SnapshotState;
import io.regatta.training.snapshot.StartingPoint;
import java.io.IOException;
import java.util.List;
import java.util.function.Supplier;

/**
 * The passes over the training data of an elastic job, whose batches are assigned as the ranks agree. Belongs to the
 * model thread.
 */
final class DealtPasses implements TrainingPasses {

  private final TrainerSession session;
  private final RankOperations rank;
  private final ReplicaGroup group;
  private final TrainingData data;
  private final ReplicaSteps steps;
  private final Runnable onJoined;

  /** @param onJoined called when this rank has taken part in steps of the others without an example */
  DealtPasses(ReplicaContext replica, TrainingData data, Runnable onJoined) {
    session = replica.session();
    rank = session.ranks().orElseThrow();
    group = replica.group();
    this.data = data;
    steps = new RunSteps(replica);
    this.onJoined = onJoined;
  }

  @Override
  public ReplicaSteps steps() {
    return steps;
  }

  @Override
  public void requireResumable(StartingPoint start) {}

  @Override
  public void begin(StartingPoint start) {
    refuseOthersSnapshots(start);
    if (start.resume()) {
      resumeAtPass(start);
    }
  }

  /**
   * Refuses a directory with another run's snapshots. This is possible only once it is known that the run begins: a
   * newcomer may find those of its own run.
   */
  private void refuseOthersSnapshots(StartingPoint start) {
    if (session.job().snapshots().isOn()) {
      try {
        start.refuseOthersIn(StartingPoint.root(session.job()));
      } catch (IOException e) {
        throw new InvalidInput("job " + session.job().job() + ": its snapshots cannot be listed: " + e, e);
      }
    }
  }

  /** Resumes an elastic job: within a pass the ledger says what has been trained, by any rank. */
  private void resumeAtPass(StartingPoint start) {
    SnapshotState kept = SnapshotState.of(start);
    DataCursor cursor = start.cursor();
    if (kept.pass() >= 0) {
      rank.passes().resumeIn(kept.pass(), kept.ledger());
    } else if (cursor != null && cursor.beginsPass()) {
      rank.passes().resumeAt(cursor.pass());
    } else {
      throw new InvalidInput("job " + session.job().job() + " is elastic (" + session.job().elasticBy()
          + ") and resumes from a snapshot that was taken after a pass (snapshots.every_pass), or by an elastic job, but "
          + start.dir() + " was taken within a pass of a job that is not elastic; name another snapshot, or remove "
          + session.job().elasticBy());
    }
  }

  @Override
  public boolean keeps(Supplier<ElasticState> state) {
    return rank.keeps(state.get(), session.job().elasticBy());
  }

  @Override
  public DataCursor resumePlace(DataCursor place) {
    return null;
  }

  /** Resumes with the steps made: the ledger holds the position in the data. */
  @Override
  public long resume(StartingPoint start, long made) {
    return made;
  }

  /**
   * Returns the batches of a pass. Training data are assigned as the ranks agree, all other data to the ranks that are
   * present.
   */
  @Override
  public Iterable<Batch> batches(Dataset dataset, NDManager manager, Reading reading)
      throws IOException, TranslateException {
    if (data.isTraining(dataset)) {
      return next(dataset, manager);
    }
    return dataset instanceof SlotDataset slots && slots.options().shards() > 1
        ? slots.getData(manager, session.trainer().rank(), session.worldSize()) : reading.batches(dataset);
  }

  @Override
  public boolean areOwn() {
    return false;
  }

  /**
   * Begins the next pass; returns nothing if this rank is already behind the others' pass.
   *
   * @throws InvalidInput if the data cannot be assigned anew
   */
  private Iterable<Batch> next(Dataset dataset, NDManager manager) {
    if (!(dataset instanceof SlotDataset slots && slots.canBeDealt())) {
      throw new InvalidInput("job " + session.job().job() + " is elastic (" + session.job().elasticBy() + "), but its training data, a "
          + dataset.getClass().getName() + ", cannot be assigned anew when trainers are lost: give it a SlotDataset over a source whose "
          + "examples are counted, read in order");
    }
    group.joinOthersSteps(); // a program may have left the last pass early
    onJoined.run();
    data.beginPass(dataset);
    int pass = slots.beginPass().pass();
    ElasticPasses passes = rank.passes();
    if (!passes.begin(slots.allExamples(), slots.options().batchSize(), slots.options().dropLast())) {
      return List.of();
    }
    return () -> new DealtBatches(passes, slots, pass, manager, steps::areEnough, () -> joinOne(false),
        () -> joinOne(true));
  }

  private void joinOne(boolean emptyBatch) {
    group.joinOneStep(emptyBatch);
    onJoined.run();
  }

  @Override
  public void requireAssigned() {
    if (rank.passes().next().isEmpty()) {
      throw new InvalidInput("job " + session.job().job() + " is elastic, and step " + steps.made() + " trains a batch that trainer "
          + session.trainer().rank() + " was not assigned; take each batch of the training data from trainer.iterateDataset, and make one "
          + "step with it");
    }
  }
}
