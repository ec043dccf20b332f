package io.regatta.heterworker;

import io.regatta.core.error.RegattaException;
import io.regatta.training.heter.PartHost;
import java.util.concurrent.CompletableFuture;

/** The computation of a heter worker's part on a model thread. Any thread may use it. */
interface PartComputation {

  /** Maker of the computation of one heter worker. */
  interface Factory {

    /**
     * Makes a computation that has not begun.
     *
     * @param host source of its batches
     * @param index of the heter worker, which decides about its GPU
     */
    PartComputation of(PartHost host, int index);
  }

  /** Begins; completes when the host has no more work, and fails with what keeps the part from being computed. */
  CompletableFuture<Void> start();

  /** Ends it: the model thread finds this reason where it waits. */
  void stop(RegattaException reason);
}
