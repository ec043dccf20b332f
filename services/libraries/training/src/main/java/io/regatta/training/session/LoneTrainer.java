package io.regatta.training.session;

import io.regatta.core.exchange.TrainerId;
import io.regatta.core.reduce.Elementwise;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The group of a job of one rank. Any thread. */
final class LoneTrainer implements JobGroup, GatheredCalls.Meeting {

  private final TrainerId trainer = new TrainerId(0, 1);
  private final RankCalls calls;

  LoneTrainer(RankOperations.Waiting waiting) {
    calls = new GatheredCalls(0, this, waiting);
  }

  @Override
  public TrainerId trainer() {
    return trainer;
  }

  @Override
  public int worldSize() {
    return 1;
  }

  @Override
  public List<String> endpoints() {
    return List.of("");
  }

  @Override
  public RankCalls calls() {
    return calls;
  }

  @Override
  public CompletableFuture<List<double[]>> gather(String key, double[] values) {
    return CompletableFuture.completedFuture(List.of(values));
  }

  @Override
  public CompletableFuture<GatheredCalls.Reduced> reduce(String key, Elementwise how, double[] slice, int ofValues) {
    return CompletableFuture.completedFuture(new GatheredCalls.Reduced(slice, List.of(0)));
  }
}
