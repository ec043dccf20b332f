package io.regatta.core.shard;

import io.regatta.core.model.DensePartition;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * A trainer's view of all shards of its job as one: cuts dense vectors by {@link DensePartition} and sparse rows by
 * {@code SparsePartition}, talks to every {@link ShardLink}, and puts the answers together. Slicing happens on the
 * caller's (model) thread; sequence numbers and links belong to {@code owner}, a serial executor (the trainer
 * verticle's event loop; {@code Runnable::run} in local mode). One client per rank, shared by its replicas.
 * Futures fail with a {@link io.regatta.core.error.RegattaException}.
 */
public final class ParameterClient {

  /** All values of a pull. {@code versions} by shard goes back into the next push. */
  public record Values(long[] versions, float[] dense, List<SparseRows> sparse) {}

  /** What all shards said to a push: the highest staleness, whether any skipped. */
  public record Pushed(long staleness, boolean skipped) {}

  public ParameterClient(JobSpec job, TrainerId trainer, List<? extends ShardLink> shards, Executor owner) {
    throw new UnsupportedOperationException("TODO core helper");
  }

  public JobSpec job() {
    throw new UnsupportedOperationException("TODO core helper");
  }

  public DensePartition partition() {
    throw new UnsupportedOperationException("TODO core helper");
  }

  public CompletableFuture<Void> register() {
    throw new UnsupportedOperationException("TODO core helper");
  }

  /** Rank 0: the flat dense vector that everybody starts from. */
  public CompletableFuture<Void> initialize(float[] flatDense) {
    throw new UnsupportedOperationException("TODO core helper");
  }

  /**
   * Pushes one step's gradients (geo: deltas) to all shards; a shard without data gets an empty push, for its clock.
   * Checks for NaN and infinity over the whole push first: by policy fails, or pushes empty and reports skipped.
   *
   * @param step step from 0
   * @param weight examples behind the gradient
   * @param versions of the {@link Values} computed on; null before the first pull
   * @param flatDense gradient of the flat dense vector, or null
   * @param sparse gradients by table, ids distinct
   */
  public CompletableFuture<Pushed> push(long step, double weight, long[] versions, float[] flatDense,
      List<SparseRows> sparse) {
    throw new UnsupportedOperationException("TODO core helper");
  }

  /** Pulls the flat dense vector and/or rows; {@code sparse} in the answer is in the order of the wish. */
  public CompletableFuture<Values> pull(long minStep, boolean dense, List<SparseIds> sparse, boolean changed) {
    throw new UnsupportedOperationException("TODO core helper");
  }

  public CompletableFuture<Void> leave() {
    throw new UnsupportedOperationException("TODO core helper");
  }

  /** Hash of all parameters, the same for any number of shards. */
  public CompletableFuture<Long> digest() {
    throw new UnsupportedOperationException("TODO core helper");
  }

  /** All rows of a table, shard after shard, in slices. */
  public CompletableFuture<Void> export(String table, Consumer<SparseRows> slice) {
    throw new UnsupportedOperationException("TODO core helper");
  }

  public CompletableFuture<Void> close() {
    throw new UnsupportedOperationException("TODO core helper");
  }
}
