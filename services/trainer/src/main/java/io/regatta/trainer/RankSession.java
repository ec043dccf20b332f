package io.regatta.trainer;

import io.regatta.core.client.ParameterClient;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.ShardLink;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.Sharding;
import io.regatta.data.Layout;
import io.regatta.data.Parcel;
import io.regatta.node.Node;
import io.regatta.node.admin.CounterSource;
import io.regatta.node.admin.Waits;
import io.regatta.node.directory.Directory;
import io.regatta.protocol.parameterserver.Shard;
import io.regatta.trainer.heter.HeterWorkers;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.Strategy;
import io.regatta.training.feature.LoadedFeatures;
import io.regatta.training.heter.RemoteCompute;
import io.regatta.training.session.Awaiting;
import io.regatta.training.session.JobGroup;
import io.regatta.training.session.OwnShards;
import io.regatta.training.session.TrainerSession;
import io.regatta.training.trace.StepTrace;
import io.vertx.core.Context;
import io.vertx.core.Future;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One rank's session of a job on a cluster: its group, and the parameters, on servers or in collective mode in this
 * process. {@link TrainerVerticle}'s event loop owns its state; model threads call it there and wait in {@link #await}.
 */
final class RankSession implements TrainerSession {

  private static final Logger LOG = LoggerFactory.getLogger(RankSession.class);

  private final Node node;
  private final Context context;
  private final OwnerLoop loop;
  private final JobConfig job;
  private final LoadedFeatures features;
  private final long stepDelayMillis;
  private final TrainerGroup group;
  private final RankProgress progress;
  private final ShardFinder.Found found;
  private final ShardConnections connections;
  /** Null if the network is not cut. */
  private final HeterWorkers remote;
  private final Awaiting awaiting = new Awaiting();
  private final String where;
  private final WaitPeers peers;
  private final StepTrace trace;

  // Used on the loop only, except for the volatile one.
  private JobSpec spec;
  private Future<ParameterClient> connected;
  private Future<Void> left;
  /** Set from the first registration on, even if not every shard accepts it: some may hold this trainer. */
  private ParameterClient registering;
  private volatile ParameterClient client;
  /** This rank's copy of the parameters in collective mode. */
  private final OwnShards own;

  /**
   * Creates the session.
   *
   * @param group that this trainer has joined
   * @param remote null if the network is not cut
   */
  RankSession(Node node, Context context, JobConfig job, long stepDelayMillis, TrainerGroup group,
      RankProgress progress, ShardFinder.Found found, ShardConnections connections, HeterWorkers remote) {
    this.node = node;
    this.context = context;
    this.job = job;
    features = new LoadedFeatures(job);
    this.stepDelayMillis = stepDelayMillis;
    this.group = group;
    this.progress = progress;
    this.found = found;
    this.connections = connections;
    this.remote = remote;
    loop = new OwnerLoop(context, this::name);
    where = "job " + job.job();
    peers = new WaitPeers(node, job, "trainer " + group.rank(), found, group::missing, this::client);
    group.begins(this::await, peers);
    trace = StepTrace.of(node.clock(), job.trace(), group.rank(), job.trainers());
    own = new OwnShards(1, trace);
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
  public JobGroup group() {
    return group;
  }

  @Override
  public Optional<RemoteCompute> remote() {
    return Optional.ofNullable(remote);
  }

  @Override
  public boolean isDenseElsewhere() {
    return remote != null && job.heter().isDenseAtWorkers();
  }

  /** Returns the counters of the services that this rank uses beside servers. */
  List<CounterSource> counters() {
    return remote == null ? List.of() : remote.counts().sources();
  }

  @Override
  public List<String> serverEndpoints() {
    return found.servers().stream().map(Directory.Instance::endpoint).toList();
  }

  @Override
  public Sharding sharding() {
    return found.sharding();
  }

  @Override
  public Map<String, Long> serviceProcessIds() {
    return found.processIds();
  }

  @Override
  public CompletableFuture<ParameterClient> connect(Strategy strategy, ModelSpec model) {
    return loop.call(() -> {
      strategy.check(job);
      return !strategy.mode().needsServers() ? connectToRanks(model) : connectToShards(spec(strategy, model));
    });
  }

  /** Opens the streams to the other ranks, once; the parameters are in this process. */
  private Future<ParameterClient> connectToRanks(ModelSpec model) {
    return group.meet().compose(met -> Future.fromCompletionStage(own.connect(ownSpec(model)), context))
        .onSuccess(made -> client = made);
  }

  private Future<ParameterClient> connectToShards(JobSpec asked) {
    if (connected == null) {
      spec = asked;
      Future<List<ShardLink>> opened = isDenseElsewhere() ? connections.open(found, remote, name())
          : connections.open(found, name());
      connected = opened.compose(links -> {
        ParameterClient made = new ParameterClient(asked, trainer(), trace.of(links), loop::execute);
        if (left != null) {
          return Future.failedFuture(new Cancelled(name() + " has left before it had registered"));
        }
        registering = made;
        return Future.fromCompletionStage(made.register(), context).map(v -> {
          LOG.info("init rpc client with trainer_id {}", trainer().rank());
          client = made;
          return made;
        });
      });
    } else if (!asked.equals(spec)) {
      return Future.failedFuture(new Conflict(name() + ": a replica's model or strategy differs from that of the "
          + "first replica; give all replicas the same"));
    }
    return connected;
  }

  @Override
  public Optional<ParameterClient> client() {
    return Optional.ofNullable(client);
  }

  @Override
  public OwnShards ownShards() {
    return own;
  }

  @Override
  public CompletableFuture<List<List<Parcel>>> exchange(String key, Layout layout, List<List<Parcel>> outgoing) {
    return worldSize() == 1 ? TrainerSession.super.exchange(key, layout, outgoing)
        : group.exchange(key, layout, outgoing);
  }

  @Override
  public CompletableFuture<Void> othersAtRest() {
    return loop.call(() -> isCollective() || worldSize() == 1 ? Future.succeededFuture()
        : new OthersAtRest(node, found, job.job(), trainer().rank()).await());
  }

  @Override
  public CompletableFuture<Set<Integer>> serving(Set<Integer> shards) {
    return loop.call(() -> new LivingShards(node, found).of(shards));
  }

  @Override
  public String shardAddress(int shard) {
    Shard of = found.shards().get(shard);
    return of.getHost() + ":" + of.getPort();
  }

  @Override
  public boolean isOneOfSeveralHosts() {
    return job.aggregator() && Set.copyOf(group.hosts()).size() > 1;
  }

  @Override
  public CompletableFuture<Void> admitSnapshots(Path directory) {
    return loop.call(() -> isCollective() ? Future.succeededFuture()
        : new SnapshotAdmission(node, found, job.job()).of(List.of(directory), true));
  }

  @Override
  public CompletableFuture<Saving> save(SaveOrder order) {
    return isCollective() ? own.save(order) : loop.call(() -> snapshots().save(order));
  }

  @Override
  public CompletableFuture<Boolean> restore(RestoreOrder order) {
    return isCollective() ? own.restore(order) : loop.call(() -> snapshots().restore(order));
  }

  @Override
  public void assign(DenseMemory flat) {
    own.assign(flat);
  }

  private ShardSnapshots snapshots() {
    return new ShardSnapshots(node, job.job(), found.shards(), spec != null && spec.mode().hasRounds());
  }

  @Override
  public <T> T await(String operation, CompletionStage<T> stage) {
    try (Waits.Handle wait = node.waits().begin("trainer " + trainer().rank(), operation, where,
        () -> remote != null && remote.isAwaited(stage) ? remote.peers(stage) : peers.of(stage))) {
      return awaiting.await(operation + " of " + name(), stage);
    }
  }

  @Override
  public StepTrace trace() {
    return trace;
  }

  @Override
  public void stepped(long made) {
    progress.stepped(made);
    if (stepDelayMillis > 0) { // on a model thread
      node.clock().pause(TimeUnit.MILLISECONDS.toNanos(stepDelayMillis));
    }
  }

  @Override
  public void trained(long count) {
    progress.trained(count);
  }

  @Override
  public CompletableFuture<Void> leave(boolean succeeded) {
    return loop.call(() -> leaveShards(succeeded));
  }

  /** Leaves the shards, after everything pushed; once. */
  Future<Void> leaveShards(boolean succeeded) {
    if (left == null) {
      left = registering == null ? Future.succeededFuture()
          : Future.fromCompletionStage(registering.leave(succeeded), context)
          .onFailure(e -> {
            if (!(e instanceof Cancelled) && !refused()) { // the first: a pull was cancelled because this rank has left
              LOG.warn("{} could not leave every shard in order, the rendezvous will tell them: {}", name(),
                  e.getMessage());
            }
          });
    }
    return left;
  }

  /** Returns true if the shards have refused this trainer, whose failure says so itself. On the loop. */
  private boolean refused() {
    return connected != null && connected.failed() && !(connected.cause() instanceof PeerLost);
  }

  /**
   * Ends the streams to servers, heter workers and other trainers. Called before the connections are closed, so that
   * the others see the end of the streams first.
   *
   * @param succeeded true if this rank's run has ended with success
   */
  Future<Void> closeLinks(boolean succeeded) {
    return group.closeStreams().compose(v -> remote == null ? Future.succeededFuture() : remote.close(succeeded))
        .compose(v -> registering == null ? Future.succeededFuture()
        : Future.fromCompletionStage(registering.close(), context));
  }

  /** Releases the model threads from present and later waits. Any thread. */
  void end(RegattaException reason) {
    awaiting.end(reason);
  }

  /** Returns the name of this trainer in messages. */
  private String name() {
    return "trainer " + trainer().rank() + " of job " + job.job();
  }
}
