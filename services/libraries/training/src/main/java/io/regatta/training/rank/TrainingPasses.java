package io.regatta.training.rank;

import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.Dataset;
import ai.djl.translate.TranslateException;
import io.regatta.data.DataCursor;
import io.regatta.training.replica.ReplicaContext;
import io.regatta.training.session.ElasticState;
import io.regatta.training.snapshot.StartingPoint;
import java.io.IOException;
import java.util.function.Supplier;

/**
 * The passes of a replica over data sets: {@link OwnPasses} over its own partition of the training data, or
 * {@link DealtPasses} over what the ledger of an elastic job assigns to it. Belongs to the model thread.
 */
interface TrainingPasses {

  /**
   * Returns the passes of a replica, by what its job does when a rank is lost. All that follows from it for a rank's data, steps
   * and starting point is the chosen object's.
   *
   * @param joined notified when this rank has taken part in steps of the others without an example
   */
  static TrainingPasses of(ReplicaContext replica, TrainingData data, Runnable joined) {
    return replica.session().isElastic() ? new DealtPasses(replica, data, joined) : new OwnPasses(replica, data);
  }

  /** Returns the count of the replica's steps. */
  ReplicaSteps steps();

  /**
   * Checks that the run can resume from a snapshot; before the ranks meet.
   *
   * @throws io.regatta.core.error.RegattaException.InvalidInput if only the other kind of passes can
   */
  void requireResumable(StartingPoint start);

  /** Begins the passes of a run of collective mode, of which this rank has not been given the others' place. */
  void begin(StartingPoint start);

  /**
   * Keeps what this rank trains where ranks that come later are given it.
   *
   * @param state of this rank; asked for only then
   * @return true if this rank has come later itself, and has been given it
   */
  boolean keeps(Supplier<ElasticState> state);

  /** Returns where reading resumes after a step, if that is not the ledger's to say: the same place, or else null. */
  DataCursor resumePlace(DataCursor place);

  /** DJL's access to the batches of a data set. */
  interface Reading {
    Iterable<Batch> batches(Dataset dataset) throws IOException, TranslateException;
  }

  /**
   * Resumes at the position of the run.
   *
   * @param made steps that have been made
   * @return batches that were trained before, which are skipped
   */
  long resume(StartingPoint start, long made);

  /** Begins a pass. */
  Iterable<Batch> batches(Dataset dataset, NDManager manager, Reading reading) throws IOException, TranslateException;

  /**
   * Returns true if each rank counts steps and batches of its own. They are made equal when the ranks meet, and a batch
   * without examples counts.
   */
  boolean areOwn();

  /**
   * Checks that the batch that this replica has forwarded is assigned to it.
   *
   * @throws io.regatta.core.error.RegattaException.InvalidInput if it is not
   */
  void requireAssigned();
}
