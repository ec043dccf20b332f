package io.regatta.training.heter.run;

import io.regatta.core.client.ParameterClient;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.Sharding;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.Strategy;
import io.regatta.training.feature.LoadedFeatures;
import io.regatta.training.heter.PartHost;
import io.regatta.training.session.Awaiting;
import io.regatta.training.session.JobGroup;
import io.regatta.training.session.RankCalls;
import io.regatta.training.session.RankOperations;
import io.regatta.training.session.TrainerSession;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The session of a program at a heter worker, which is no rank: it has work, and no parameters and no other trainers. Any
 * thread may use it.
 */
public final class HostSession implements TrainerSession, JobGroup {

  private final JobConfig job;
  private final LoadedFeatures features;
  private final PartHost host;
  private final Awaiting awaiting = new Awaiting();

  /**
   * Creates a session.
   *
   * @param host source of batches
   */
  public HostSession(JobConfig job, PartHost host) {
    this.job = job;
    features = new LoadedFeatures(job);
    this.host = host;
  }

  /** Releases the model thread from present and later waits. */
  public void end(RegattaException reason) {
    awaiting.end(reason);
  }

  @Override
  public JobConfig job() {
    return job;
  }

  @Override
  public LoadedFeatures features() {
    return features;
  }

  @Override
  public Optional<PartHost> host() {
    return Optional.of(host);
  }

  @Override
  public JobGroup group() {
    return this;
  }

  @Override
  public TrainerId trainer() {
    return new TrainerId(0, 1);
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
    throw noRank();
  }

  @Override
  public Optional<RankOperations> ranks() {
    return Optional.empty();
  }

  @Override
  public List<String> serverEndpoints() {
    return List.of();
  }

  @Override
  public Sharding sharding() {
    return Sharding.common(1);
  }

  @Override
  public CompletableFuture<ParameterClient> connect(Strategy strategy, ModelSpec model) {
    throw noRank();
  }

  private Cancelled noRank() {
    return new Cancelled("job " + job.job() + ": a heter worker is no rank");
  }

  @Override
  public <T> T await(String operation, CompletionStage<T> stage) {
    return awaiting.await(operation, stage);
  }

  @Override
  public Optional<ParameterClient> client() {
    return Optional.empty();
  }

  @Override
  public void stepped(long step) {}

  @Override
  public CompletableFuture<Void> leave(boolean succeeded) {
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public Map<String, Long> serviceProcessIds() {
    return Map.of();
  }
}
