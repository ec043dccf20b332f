package io.regatta.protocol.heter;

import io.regatta.core.exchange.TrainerId;
import io.regatta.protocol.stream.request.RequestMemory;
import io.regatta.protocol.tensor.CutOpen;
import io.regatta.protocol.tensor.CutOpened;
import io.vertx.core.Future;

/**
 * The receiver of the requests of trainers' streams at a heter worker. All calls are made on the port's loop, in the
 * order of the requests; futures complete on it. A failed future ends the stream with that error.
 */
public interface HeterHandler {

  /**
   * The origin of a request.
   *
   * @param job name
   * @param generation of the job's group, as the sender knows it
   */
  record Origin(String job, long generation, TrainerId trainer) {}

  /** Returns the memory of which batches take room until they are computed; asked for once for each stream. */
  default RequestMemory memory() {
    return RequestMemory.unlimited();
  }

  /** Compares what crosses the cut with the own network; completes once that is built. */
  Future<CutOpened> open(Origin from, CutOpen open);

  /** Computes a batch. Its memory belongs to the handler until the future completes. */
  Future<ComputedBatch> compute(Origin from, BatchToCompute batch);

  /**
   * Notes the end of a trainer's stream; its open requests need no answer any more.
   *
   * @param clean true if the trainer has ended it
   */
  void closed(Origin from, boolean clean);
}
