package io.regatta.trainer;

import io.regatta.core.model.ModelSpec;
import io.regatta.core.shard.ParameterClient;
import io.regatta.core.shard.TrainerId;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A job of one rank whose shards live in this process: what {@code --local} trains on. */
public final class LocalSession implements TrainerSession, AutoCloseable {

  public LocalSession(JobConfig job) {
    throw new UnsupportedOperationException("TODO trainer helper");
  }

  @Override
  public JobConfig job() {
    throw new UnsupportedOperationException("TODO trainer helper");
  }

  @Override
  public TrainerId trainer() {
    throw new UnsupportedOperationException("TODO trainer helper");
  }

  @Override
  public int worldSize() {
    return 1;
  }

  @Override
  public List<String> serverEndpoints() {
    return List.of();
  }

  @Override
  public List<String> workerEndpoints() {
    return List.of();
  }

  @Override
  public int shards() {
    throw new UnsupportedOperationException("TODO trainer helper");
  }

  @Override
  public CompletableFuture<ParameterClient> connect(Strategy strategy, ModelSpec model) {
    throw new UnsupportedOperationException("TODO trainer helper");
  }

  @Override
  public CompletableFuture<List<double[]>> gather(String key, double[] values) {
    throw new UnsupportedOperationException("TODO trainer helper");
  }

  @Override
  public <T> T await(String operation, CompletionStage<T> stage) {
    throw new UnsupportedOperationException("TODO trainer helper");
  }

  @Override
  public void stepped(long step) {}

  @Override
  public void close() {}
}
