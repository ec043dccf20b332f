package io.regatta.training.session;

import io.regatta.core.client.ParameterClient;
import io.regatta.training.config.JobConfig;
import io.regatta.training.feature.LoadedFeatures;
import io.regatta.training.trace.StepTrace;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A session of a rank that holds the parameters itself, in shards of its own, without servers. Any thread may use it.
 */
public abstract class OwnShardsSession implements TrainerSession {

  private final JobConfig job;
  private final LoadedFeatures features;
  private final StepTrace trace;
  private final OwnShards own;

  /** @param shards number of its own; it does not change a bit of the result */
  protected OwnShardsSession(JobConfig job, int shards, StepTrace trace) {
    this.job = job;
    features = new LoadedFeatures(job);
    this.trace = trace;
    own = new OwnShards(shards, trace);
  }

  @Override
  public final JobConfig job() {
    return job;
  }

  @Override
  public final LoadedFeatures features() {
    return features;
  }

  @Override
  public final StepTrace trace() {
    return trace;
  }

  @Override
  public final OwnShards ownShards() {
    return own;
  }

  @Override
  public final Optional<ParameterClient> client() {
    return own.client();
  }

  @Override
  public final List<String> serverEndpoints() {
    return List.of();
  }

  @Override
  public final CompletableFuture<Saving> save(SaveOrder order) {
    return own.save(order);
  }

  @Override
  public final CompletableFuture<Boolean> restore(RestoreOrder order) {
    return own.restore(order);
  }

  @Override
  public final CompletableFuture<Void> leave(boolean succeeded) {
    return client().map(client -> client.leave(succeeded)).orElseGet(() -> CompletableFuture.completedFuture(null));
  }

  @Override
  public Map<String, Long> serviceProcessIds() {
    return Map.of();
  }
}
