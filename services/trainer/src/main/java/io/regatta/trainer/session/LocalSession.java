package io.regatta.trainer.session;

import io.regatta.core.client.ParameterClient;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.Sharding;
import io.regatta.core.reduce.Elementwise;
import io.regatta.protocol.vertx.SystemClock;
import io.regatta.trainer.config.JobConfig;
import io.regatta.trainer.config.Strategy;
import io.regatta.trainer.trace.StepTrace;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A job of one rank whose shards live in this process: what {@code --local} trains on, the reference that the
 * distributed modes are compared with. Whatever the mode asked for, it runs as sync: with one rank there is nobody to
 * be out of step with. Any thread.
 */
public final class LocalSession extends OwnShardsSession implements GatheredCalls.Meeting, AutoCloseable {

  private final Sharding sharding;
  private final TrainerId trainer = new TrainerId(0, 1);
  private final Awaiting awaiting = new Awaiting();
  private final RankCalls calls = new GatheredCalls(0, this, this::await);

  /** One shard: the number does not change a bit of the result. */
  public LocalSession(JobConfig job) {
    this(job, 1);
  }

  LocalSession(JobConfig job, int shards) {
    super(job, shards, StepTrace.of(SystemClock.get(), job.trace(), 0, 1));
    sharding = Sharding.common(shards);
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
  public List<String> workerEndpoints() {
    return List.of("");
  }

  @Override
  public Sharding sharding() {
    return sharding;
  }

  @Override
  public CompletableFuture<ParameterClient> connect(Strategy strategy, ModelSpec model) {
    return ownShards().connect(spec(new Strategy(Mode.SYNC, 0, 0), model));
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

  @Override
  public <T> T await(String operation, CompletionStage<T> stage) {
    return awaiting.await(operation + " of job " + job().job(), stage);
  }

  @Override
  public void stepped(long step) {}

  /** Releases whoever waits. */
  @Override
  public void close() {
    awaiting.end(new Cancelled("job " + job().job() + " is being stopped"));
  }
}
