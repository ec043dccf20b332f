package io.regatta.core.exchange;

import java.util.concurrent.CompletionStage;

/**
 * A consumer of the rows of an export, slice after slice. Called on the thread on which the slices arrive (a trainer's
 * event loop), so it must not block. Slow work belongs on a thread of its own; the returned stage completes when it has
 * taken the slice.
 */
@FunctionalInterface
public interface RowSink {

  /**
   * Takes the next slice; its arrays belong to the sink. There is no other call until the stage has completed, on any
   * thread, and meanwhile nothing more is read from the shard. A failure, thrown or of the stage, fails the export, and
   * there are no further calls.
   */
  CompletionStage<Void> take(SparseRows slice);
}
