package io.regatta.trainer.djl;

import io.regatta.core.dense.DenseMemory;
import io.regatta.core.exchange.SparseIds;
import java.util.List;

/**
 * How one replica trades gradients for values. Belongs to its model thread, which its calls block; they fail with a
 * {@link io.regatta.core.error.RegattaException}.
 */
interface Exchange {

  /** The dense values to start from, once rank 0 has set them. */
  DenseMemory start();

  /** Values of rows for the forward pass of the coming step: {@code [ids.length × dim]}. */
  float[] rows(String table, int dim, long[] ids);

  /** Values of rows as they are now, for evaluation: waits for nobody, is not part of a step, and bears no rows. */
  float[] evaluationRows(String table, int dim, long[] ids);

  /**
   * The next batch's ids are known while this step's backward pass still runs; asks for their rows if the mode allows
   * to have them without this step's update.
   */
  void prefetch(List<SparseIds> next);

  /**
   * Ends a step.
   *
   * @param next ids of the next batch, if known; empty otherwise
   * @return dense values for the next step; read only, shared with other replicas, and good until the next call
   */
  DenseMemory step(Gradients gradients, List<SparseIds> next);

  /** Pushes that may be under way, with their gradients' memory, when {@link #step} has returned. */
  default int underWay() {
    return 0;
  }

  /** Takes over a step count that the ranks have agreed on. Returns newer dense values, or null to keep them. */
  DenseMemory resumed();

  /** Hands in what the servers do not have yet. */
  void handIn();

  /** The servers' newest dense values. */
  DenseMemory newest();
}
