package io.regatta.training.session;

import io.regatta.core.client.ParameterClient;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.Sharding;
import io.regatta.protocol.vertx.SystemClock;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.Strategy;
import io.regatta.training.heter.RemoteCompute;
import io.regatta.training.trace.StepTrace;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.LongConsumer;

/**
 * A job of one rank with its shards in this process, on which {@code --local} trains; it is the reference for the
 * distributed modes. It runs as sync, whatever the mode, because a single rank cannot be out of step. Any thread may
 * use it.
 */
public final class LocalSession extends OwnShardsSession implements AutoCloseable {

  private final Sharding sharding;
  private final Awaiting awaiting = new Awaiting();
  private final JobGroup group = new LoneTrainer(this::await);
  private final Optional<RemoteCompute> remote;
  private final LongConsumer stepped;

  /** Creates a session with one shard; the number of shards does not change a bit of the result. */
  public LocalSession(JobConfig job) {
    this(job, 1);
  }

  /** Creates a session of a network that is cut. */
  public LocalSession(JobConfig job, RemoteCompute remote) {
    this(job, remote, step -> { });
  }

  LocalSession(JobConfig job, int shards) {
    this(job, shards, null, step -> { });
  }

  /**
   * Creates a session with one shard.
   *
   * @param remote computes the part after the network's cut; null: the network is not cut
   * @param stepped gets the number of steps after each; on the model thread
   */
  public LocalSession(JobConfig job, RemoteCompute remote, LongConsumer stepped) {
    this(job, 1, remote, stepped);
  }

  private LocalSession(JobConfig job, int shards, RemoteCompute remote, LongConsumer stepped) {
    super(job, shards, StepTrace.of(SystemClock.get(), job.trace(), 0, 1));
    sharding = Sharding.common(shards);
    this.remote = Optional.ofNullable(remote);
    this.stepped = stepped;
  }

  @Override
  public Optional<RemoteCompute> remote() {
    return remote;
  }

  @Override
  public JobGroup group() {
    return group;
  }

  @Override
  public Sharding sharding() {
    return sharding;
  }

  @Override
  public CompletableFuture<ParameterClient> connect(Strategy strategy, ModelSpec model) {
    return ownShards().connect(spec(Strategy.sync(), model));
  }

  @Override
  public <T> T await(String operation, CompletionStage<T> stage) {
    return awaiting.await(operation + " of job " + job().job(), stage);
  }

  @Override
  public void stepped(long step) {
    stepped.accept(step);
  }

  /** Releases all waiting threads. */
  @Override
  public void close() {
    awaiting.end(new Cancelled("job " + job().job() + " is being stopped"));
  }
}
