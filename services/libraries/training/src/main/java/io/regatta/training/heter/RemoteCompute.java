package io.regatta.training.heter;

import io.regatta.protocol.heter.BatchToCompute;
import io.regatta.protocol.heter.ComputedBatch;
import io.regatta.protocol.tensor.CutOpen;
import io.regatta.protocol.tensor.CutOpened;
import java.util.concurrent.CompletionStage;

/**
 * The computation of a part of a network elsewhere, for all replicas of a rank. Any thread may use it. Stages fail with
 * a {@link io.regatta.core.error.RegattaException}; model threads wait for them through their session.
 */
public interface RemoteCompute {

  /** Says what crosses the cut. Each replica calls it before its first batch. */
  CompletionStage<CutOpened> open(CutOpen open);

  /**
   * Computes a batch, whose memory is borrowed until the stage completes. If a heter worker is lost, another one gets
   * the batch; the stage fails when none is left.
   */
  CompletionStage<ComputedBatch> compute(BatchToCompute batch);

  /** Returns the name of the heter worker that gets the next batch, for messages. */
  String worker();
}
