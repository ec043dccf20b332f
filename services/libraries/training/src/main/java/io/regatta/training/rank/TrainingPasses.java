package io.regatta.training.rank;

import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.Dataset;
import ai.djl.translate.TranslateException;
import io.regatta.training.snapshot.StartingPoint;
import java.io.IOException;

/**
 * Passes of a replica over data sets: {@link OwnPasses} over its own part of the training data, or {@link DealtPasses} over
 * what the ledger of an elastic job assigns to it. Belongs to the model thread.
 */
interface TrainingPasses {

  /** The way of DJL to the batches of a data set. */
  interface Reading {
    Iterable<Batch> batches(Dataset dataset) throws IOException, TranslateException;
  }

  /**
   * Resumes where the run was.
   *
   * @param made steps that have been made
   * @return batches that were trained before, which are passed over
   */
  long resume(StartingPoint start, long made);

  /** Begins a pass. */
  Iterable<Batch> batches(Dataset dataset, NDManager manager, Reading reading) throws IOException, TranslateException;

  /**
   * Returns true if each rank counts steps and batches of its own: they are made equal where the ranks meet, and a batch without
   * examples counts.
   */
  boolean areOwn();

  /**
   * Checks that this replica is to train what it has forwarded.
   *
   * @throws io.regatta.core.error.RegattaException.InvalidInput if it is not
   */
  void requireAssigned();
}
