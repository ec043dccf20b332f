package io.regatta.core.exchange;

import java.util.concurrent.CompletionStage;

/**
 * Takes the rows of an export, slice after slice. Called on the thread on which the slices come (a trainer's event loop),
 * so it must not block: what takes time goes to a thread of its own, and the stage says when that has taken the slice.
 */
@FunctionalInterface
public interface RowSink {

  /**
   * Takes the next slice; its arrays are the sink's. There is no other call until the stage has completed, on whichever
   * thread, and meanwhile nothing more is read from the shard. A failure, thrown or of the stage, is the export's, and
   * nothing more comes.
   */
  CompletionStage<Void> take(SparseRows slice);
}
