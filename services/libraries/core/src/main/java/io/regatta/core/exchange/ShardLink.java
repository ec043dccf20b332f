package io.regatta.core.exchange;

import io.regatta.core.dense.DenseValues;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * One trainer's link to one shard: in process ({@code LocalShardLink}), over a gRPC tensor stream, or through an
 * aggregator. Calls are made on the owner's thread and keep their order; completions may occur on any thread. Failures
 * are {@link io.regatta.core.error.RegattaException}s. Arrays, and memory of dense vectors, belong to the link until
 * the call completes or fails.
 */
public interface ShardLink {

  /** Returns the name of the shard, for messages, for example {@code shard 0 at 10.0.0.7:36001}. Any thread. */
  String peer();

  /**
   * Announces the trainer; creates the job on the shard if this is the first one. A trainer that sits out calls it
   * again to take part again.
   *
   * @param step the trainer asks to be waited for from this step on, or from the next one that the shard can still wait
   *     for
   * @return the step from which the shard does
   */
  CompletionStage<Long> register(JobSpec job, TrainerId trainer, long step);

  /**
   * Sets the shard's dense vector, for which all pulls wait. A second call is ignored. Rank 0 makes the call; if it is
   * lost before that, all the others do.
   */
  CompletionStage<Void> initialize(DenseValues dense);

  CompletionStage<PushAck> push(Push push);

  CompletionStage<Pulled> pull(Pull pull);

  /** Does the job's shrink of that number on this shard; a repeated call only returns its result. */
  CompletionStage<Shrunk> shrink(long number, boolean endOfDay);

  /**
   * Removes the trainer from clocks and rounds and frees its state; the last one to leave frees the job's tables.
   *
   * @param succeeded its run has ended with success
   */
  CompletionStage<Void> leave(boolean succeeded);

  /**
   * Returns the sum of the parameters' element hashes on this shard; the sum over shards does not depend on their
   * number.
   */
  CompletionStage<Long> digest();

  /**
   * Streams all rows of a sparse table, in slices of bounded size, to the sink, and completes when it has taken the
   * last. The sink's stages complete on the owner's thread.
   */
  CompletionStage<Void> export(String table, RowSink sink);

  /**
   * Completes when the transport has read the borrowed memory that it has been given, or will not read it any more.
   * Never fails. Must be awaited before borrowed memory is taken back from a link whose requests do not all end at
   * once.
   */
  default CompletionStage<Void> handedOver() {
    return CompletableFuture.completedFuture(null);
  }

  /** Closes the link without leaving. */
  CompletionStage<Void> close();
}
