package io.regatta.trainer.service;

import io.regatta.core.client.ParameterClient;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.exchange.Wait.Peer;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.reduce.Elementwise;
import io.regatta.node.Node;
import io.regatta.node.admin.Waits;
import io.regatta.trainer.config.JobConfig;
import io.regatta.trainer.config.Strategy;
import io.regatta.trainer.session.Awaiting;
import io.regatta.trainer.session.ElasticRank;
import io.regatta.trainer.session.OwnShards;
import io.regatta.trainer.session.PeerRanks;
import io.regatta.trainer.trace.StepTrace;
import io.vertx.core.Future;
import java.nio.DoubleBuffer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * One trainer of an elastic job. Rank and world size are those of the generation that there is; everything that the ranks do together
 * goes through {@link #elastic}, on the model thread.
 */
final class ElasticSession implements OwnedSession {

  private final Node node;
  private final JobConfig job;
  private final long stepDelayMillis;
  private final ElasticMesh mesh;
  private final Map<String, Long> processIds;
  private final Awaiting awaiting = new Awaiting();
  private final ElasticRank rank;
  private final StepTrace trace;
  private final OwnShards own;
  private volatile long step;

  ElasticSession(Node node, JobConfig job, long stepDelayMillis, ElasticMesh mesh, Map<String, Long> processIds) {
    this.node = node;
    this.job = job;
    this.stepDelayMillis = stepDelayMillis;
    this.mesh = mesh;
    this.processIds = processIds;
    rank = new ElasticRank("trainer of job " + job.job(), mesh, this::await);
    trace = StepTrace.of(job.trace(), mesh.rank(), job.trainers());
    own = new OwnShards(1, trace);
  }

  @Override
  public JobConfig job() {
    return job;
  }

  @Override
  public TrainerId trainer() {
    return new TrainerId(mesh.rank(), rank.life());
  }

  @Override
  public int worldSize() {
    return mesh.worldSize();
  }

  @Override
  public List<String> serverEndpoints() {
    return List.of();
  }

  @Override
  public List<String> workerEndpoints() {
    return mesh.place().endpoints();
  }

  @Override
  public int shards() {
    return 0;
  }

  @Override
  public CompletableFuture<ParameterClient> connect(Strategy strategy, ModelSpec model) {
    if (strategy.mode() != Mode.COLLECTIVE) {
      return CompletableFuture.failedFuture(new InvalidInput("job " + job.job() + ": the program's Strategy needs servers, but the "
          + "job has none: its mode is collective"));
    }
    return own.connect(ownSpec(model));
  }

  @Override
  public Optional<ParameterClient> client() {
    return own.client();
  }

  @Override
  public OwnShards ownShards() {
    return own;
  }

  @Override
  public Optional<PeerRanks> peers() {
    return Optional.of(mesh);
  }

  @Override
  public Optional<ElasticRank> elastic() {
    return Optional.of(rank);
  }

  @Override
  public CompletableFuture<List<double[]>> gather(String key, double[] values) {
    return CompletableFuture.completedFuture(rank.calls().gather(key, values));
  }

  @Override
  public CompletableFuture<Reduced> reduce(String key, Elementwise how, double[] slice, int ofValues) {
    List<double[]> all = rank.calls().gather(key, slice);
    return CompletableFuture.completedFuture(new Reduced(how.reduce(all.stream().map(DoubleBuffer::wrap).toList()), List.of()));
  }

  @Override
  public CompletableFuture<Saving> save(SaveOrder order) {
    return own.save(order);
  }

  @Override
  public CompletableFuture<Boolean> restore(RestoreOrder order) {
    return own.restore(order);
  }

  @Override
  public <T> T await(String operation, CompletionStage<T> stage) {
    try (Waits.Handle wait = node.waits().begin("trainer " + mesh.rank(), operation, "job " + job.job(),
        () -> Future.succeededFuture(List.of(Peer.named("the other trainers"))))) {
      return awaiting.await(operation + " of trainer " + mesh.rank() + " of job " + job.job(), stage);
    }
  }

  @Override
  public StepTrace trace() {
    return trace;
  }

  @Override
  public void stepped(long made) {
    step = made;
    if (stepDelayMillis > 0) { // on a model thread
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(stepDelayMillis));
    }
  }

  @Override
  public long step() {
    return step;
  }

  @Override
  public void ending() {
    mesh.ending();
  }

  @Override
  public CompletableFuture<Void> leave() {
    return client().map(ParameterClient::leave).orElseGet(() -> CompletableFuture.completedFuture(null));
  }

  @Override
  public Map<String, Long> serviceProcessIds() {
    return processIds;
  }

  @Override
  public void end(RegattaException reason) {
    awaiting.end(reason);
  }

  @Override
  public Future<Void> leaveShards() {
    return Future.succeededFuture();
  }

  @Override
  public Future<Void> closeLinks() {
    return mesh.close();
  }
}
