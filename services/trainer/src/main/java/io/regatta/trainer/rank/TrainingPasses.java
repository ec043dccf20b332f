package io.regatta.trainer.rank;

import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.Dataset;
import ai.djl.translate.TranslateException;
import io.regatta.trainer.snapshot.StartingPoint;
import java.io.IOException;

/**
 * The passes of a replica over data sets: {@link OwnPasses} over its own partition of the training data, or
 * {@link DealtPasses} over what the ledger of an elastic job assigns to it. Belongs to the model thread.
 */
interface TrainingPasses {

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
