package io.regatta.core.shard;

import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/** A link to a {@link ParameterShard} in the same process and on the same thread: what {@code --local} trains on. */
public final class LocalShardLink implements ShardLink {

  public LocalShardLink(ParameterShard shard) {
    throw new UnsupportedOperationException("TODO core helper");
  }

  @Override
  public CompletionStage<Void> register(JobSpec job, TrainerId trainer) {
    throw new UnsupportedOperationException("TODO core helper");
  }

  @Override
  public CompletionStage<Void> initialize(float[] dense) {
    throw new UnsupportedOperationException("TODO core helper");
  }

  @Override
  public CompletionStage<PushAck> push(Push push) {
    throw new UnsupportedOperationException("TODO core helper");
  }

  @Override
  public CompletionStage<Pulled> pull(Pull pull) {
    throw new UnsupportedOperationException("TODO core helper");
  }

  @Override
  public CompletionStage<Void> leave() {
    throw new UnsupportedOperationException("TODO core helper");
  }

  @Override
  public CompletionStage<Long> digest() {
    throw new UnsupportedOperationException("TODO core helper");
  }

  @Override
  public CompletionStage<Void> export(String table, Consumer<SparseRows> slice) {
    throw new UnsupportedOperationException("TODO core helper");
  }

  @Override
  public CompletionStage<Void> close() {
    throw new UnsupportedOperationException("TODO core helper");
  }
}
