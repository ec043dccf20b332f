package io.regatta.training.session;

import com.google.protobuf.Message;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.reduce.Elementwise;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The group of a job of one rank. Any thread may use it. */
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
  public <M extends Message> CompletableFuture<List<M>> gather(String key, M mine) {
    return CompletableFuture.completedFuture(List.of(mine));
  }

  @Override
  public CompletableFuture<GatheredCalls.Reduced> reduce(String key, Elementwise how, double[] slice, int ofValues) {
    return CompletableFuture.completedFuture(new GatheredCalls.Reduced(slice, List.of(0)));
  }
}
