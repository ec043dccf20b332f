package io.regatta.trainer.service;

import io.regatta.core.client.ParameterClient;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.NotOwner;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.error.RegattaException;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.Sharding;
import io.regatta.core.reduce.Elementwise;
import io.regatta.node.Node;
import io.regatta.node.admin.Waits;
import io.regatta.node.directory.Directory;
import io.regatta.node.group.Membership;
import io.regatta.protocol.Float64s;
import io.regatta.protocol.parameterserver.Shard;
import io.regatta.trainer.config.GpuAssignment;
import io.regatta.trainer.config.JobConfig;
import io.regatta.trainer.config.Strategy;
import io.regatta.trainer.data.Layout;
import io.regatta.trainer.data.Parcel;
import io.regatta.trainer.session.Awaiting;
import io.regatta.trainer.session.DepartedTrainer;
import io.regatta.trainer.session.GatheredCalls;
import io.regatta.trainer.session.OwnShards;
import io.regatta.trainer.session.RankCalls;
import io.regatta.trainer.session.RankOperations;
import io.regatta.trainer.trace.StepTrace;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One rank's membership in a job on a cluster. Its state belongs to {@link TrainerVerticle}'s event loop; model threads
 * ask there and wait in {@link #await}.
 */
final class ClusterSession implements OwnedSession, GatheredCalls.Meeting {

  private static final Logger LOG = LoggerFactory.getLogger(ClusterSession.class);

  /** After a lease has ended, until the news of the loss is here. */
  private static final long LOSS_TOLD_MILLIS = 2_000;

  private final Node node;
  private final Context context;
  private final JobConfig job;
  private final long stepDelayMillis;
  private final Membership group;
  private final OtherTrainers others;
  private final ShardFinder.Found found;
  private final ShardConnections connections;
  private final Awaiting awaiting = new Awaiting();
  private final TrainerId trainer;
  private final String where;
  private final RankCalls calls;
  private final WaitPeers peers;
  private final StepTrace trace;
  private volatile long step;
  private final AtomicLong examples = new AtomicLong();
  private volatile boolean withoutRendezvous;

  // Touched on the loop only, but for the volatile one.
  private JobSpec spec;
  private Future<ParameterClient> connected;
  private Future<Void> left;
  /** The last one that was begun. */
  private ExampleTransfer transfer;
  /** From the first registration on, also if not every shard accepts it: some may hold this trainer. */
  private ParameterClient registering;
  private volatile ParameterClient client;
  /** Collective mode: this rank's copy of the parameters, and its streams to the others once they have been asked for. */
  private final OwnShards own;
  private Future<RankMesh> meeting;
  private volatile RankOperations ranks;

  ClusterSession(Node node, Context context, JobConfig job, long stepDelayMillis, Membership group,
      OtherTrainers others, ShardFinder.Found found, ShardConnections connections) {
    this.node = node;
    this.context = context;
    this.job = job;
    this.stepDelayMillis = stepDelayMillis;
    this.group = group;
    this.others = others;
    this.found = found;
    this.connections = connections;
    trainer = new TrainerId(group.rank(), group.incarnation());
    where = "job " + job.job();
    trace = StepTrace.of(node.clock(), job.trace(), trainer.rank(), job.trainers());
    own = new OwnShards(1, trace);
    calls = new GatheredCalls(trainer.rank(), this, this::await);
    peers = new WaitPeers(node, job, "trainer " + trainer().rank(), found,
        group::missing, this::client);
  }

  @Override
  public JobConfig job() {
    return job;
  }

  @Override
  public TrainerId trainer() {
    return trainer;
  }

  @Override
  public int worldSize() {
    return job.trainers();
  }

  @Override
  public int localRank() {
    return GpuAssignment.localRank(group.hosts(), trainer.rank());
  }

  @Override
  public List<String> serverEndpoints() {
    return found.servers().stream().map(Directory.Instance::endpoint).toList();
  }

  @Override
  public List<String> workerEndpoints() {
    return group.endpoints();
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
    return onLoop(() -> {
      strategy.check(job);
      if (strategy.mode() == Mode.COLLECTIVE) {
        return meetPeers(model);
      }
      JobSpec asked = spec(strategy, model);
      if (connected == null) {
        spec = asked;
        connected = connections.open(found, name()).compose(links -> {
          ParameterClient made = new ParameterClient(asked, trainer(), trace.of(links), this::execute);
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
            + "replica that came first"));
      }
      return connected;
    });
  }

  /** In collective mode: opens the streams to the other ranks, once; the parameters lie in this process. */
  private Future<ParameterClient> meetPeers(ModelSpec model) {
    if (meeting == null) {
      meeting = RankMesh.open(node, context, MeetingPlace.gathered(node, group, job, name()), connections.options(), job, group.rank(),
          name(), why -> { }, () -> { })
          .onSuccess(opened -> ranks = new RankOperations(node.clock(), "trainer of job " + job.job(), opened, this::await));
    }
    return meeting.compose(opened -> Future.fromCompletionStage(own.connect(ownSpec(model)), context))
        .onSuccess(made -> client = made);
  }

  @Override
  public Optional<RankOperations> ranks() {
    return Optional.ofNullable(ranks);
  }

  @Override
  public Optional<ParameterClient> client() {
    return Optional.ofNullable(client);
  }

  @Override
  public RankCalls calls() {
    return calls;
  }

  @Override
  public CompletableFuture<List<double[]>> gather(String key, double[] values) {
    return peers.gathering(key, onLoop(() -> group.gather(key, Float64s.bytes(values).toByteArray())
        .onFailure(this::metNobody).map(all -> all.stream().map(Float64s::values).toList())));
  }

  @Override
  public CompletableFuture<GatheredCalls.Reduced> reduce(String key, Elementwise how, double[] slice, int ofValues) {
    return peers.gathering(key, onLoop(() -> group.reduce(key, how, slice, ofValues)
        .onFailure(this::metNobody).map(reply -> new GatheredCalls.Reduced(Float64s.values(reply.getPayloads(0)), reply.getRanksList()))));
  }

  @Override
  public CompletableFuture<List<List<Parcel>>> exchange(String key, Layout layout, List<List<Parcel>> outgoing) {
    if (worldSize() == 1) {
      return OwnedSession.super.exchange(key, layout, outgoing);
    }
    return peers.gathering(key, onLoop(() -> {
      transfer = new ExampleTransfer(node.vertx(), node.bind(), node.host(), connections.options(), name(),
          trainer().rank(), key, layout, outgoing);
      return transfer.run(mine -> group.gather(key, Float64s.bytes(mine).toByteArray())
          .map(all -> all.stream().map(Float64s::values).toList()));
    }));
  }

  private void metNobody(Throwable why) {
    withoutRendezvous |= why instanceof PeerLost || why instanceof NotOwner;
  }

  @Override
  public boolean isWithoutRendezvous() {
    return withoutRendezvous;
  }

  @Override
  public CompletableFuture<Void> othersAtRest() {
    return onLoop(() -> ranks != null || worldSize() == 1 ? Future.succeededFuture() : new OthersAtRest(node, found, job.job(), trainer.rank()).await());
  }

  @Override
  public CompletableFuture<Set<Integer>> serving(Set<Integer> shards) {
    return onLoop(() -> new LivingShards(node, found).of(shards));
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
  public CompletableFuture<List<DepartedTrainer>> departed() {
    return onLoop(() -> withoutRendezvous ? Future.succeededFuture(others.departed())
        : group.view().map(view -> view.stream().flatMap(of -> of.getMembersList().stream())
            .filter(member -> !member.getState().equals("active")).map(OtherTrainers::departed).toList()));
  }

  @Override
  public CompletableFuture<Saving> save(SaveOrder order) {
    return ranks != null ? own.save(order) : onLoop(() -> snapshots().save(order));
  }

  @Override
  public CompletableFuture<Boolean> restore(RestoreOrder order) {
    return ranks != null ? own.restore(order) : onLoop(() -> snapshots().restore(order));
  }

  @Override
  public void assign(DenseMemory flat) {
    own.assign(flat);
  }

  private ShardSnapshots snapshots() {
    return new ShardSnapshots(node, job.job(), found.shards(), spec != null && spec.mode() == Mode.SYNC);
  }

  @Override
  public <T> T await(String operation, CompletionStage<T> stage) {
    try (Waits.Handle wait = node.waits().begin("trainer " + trainer().rank(), operation, where,
        () -> peers.of(stage))) {
      return awaiting.await(operation + " of " + name(), stage);
    }
  }

  @Override
  public StepTrace trace() {
    return trace;
  }

  @Override
  public boolean isLowest() {
    return trainer.rank() == 0 || others.isLowest();
  }

  @Override
  public CompletableFuture<Boolean> lowest() {
    return onLoop(() -> isLowest() || withoutRendezvous ? Future.succeededFuture(isLowest())
        : others.becomesLowest().map(true).timeout(group.leaseMillis() + LOSS_TOLD_MILLIS, TimeUnit.MILLISECONDS)
            .otherwise(false));
  }

  @Override
  public void stepped(long made) {
    step = made;
    if (stepDelayMillis > 0) { // on a model thread
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(stepDelayMillis));
    }
  }

  @Override
  public void trained(long count) {
    examples.addAndGet(count);
  }

  long examples() {
    return examples.get();
  }

  @Override
  public void ending() {
    execute(() -> {
      others.ending();
      group.answer(); // that all is trained shall be known, whatever happens to this process now
    });
  }

  @Override
  public void reachedTheEnd(Set<Integer> ranks) {
    execute(() -> others.atTheEnd(ranks));
  }

  @Override
  public long step() {
    return step;
  }

  @Override
  public CompletableFuture<Void> leave(boolean succeeded) {
    return onLoop(() -> leaveShards(succeeded));
  }

  /** Takes this rank out of the shards, behind everything pushed; once. */
  Future<Void> leaveShards(boolean succeeded) {
    if (left == null) {
      left = registering == null ? Future.succeededFuture()
          : Future.fromCompletionStage(registering.leave(succeeded), context)
          .onFailure(e -> {
            if (!(e instanceof Cancelled) && !refused()) { // the first: a pull under way, given up as we have left
              LOG.warn("{} could not leave every shard in order, the rendezvous will tell them: {}", name(),
                  e.getMessage());
            }
          });
    }
    return left;
  }

  /** Whether the shards would not have this trainer, which says so itself, by its failure. On the loop. */
  private boolean refused() {
    return connected != null && connected.failed() && !(connected.cause() instanceof PeerLost);
  }

  /**
   * Ends the streams to servers and other trainers. Called before the connections are closed, so that the servers see the end of
   * the streams first.
   */
  Future<Void> closeLinks() {
    if (transfer != null) {
      transfer.abort(new Cancelled(name() + " is being stopped"));
    }
    Future<Void> peersClosed = meeting == null ? Future.succeededFuture()
        : meeting.compose(opened -> opened.close(false)).otherwiseEmpty();
    return peersClosed.compose(v -> registering == null ? Future.succeededFuture()
        : Future.fromCompletionStage(registering.close(), context));
  }

  @Override
  public void end(RegattaException reason) {
    awaiting.end(reason);
  }

  /** As messages name this trainer. */
  String name() {
    return "trainer " + trainer().rank() + " of job " + job.job();
  }

  private void execute(Runnable task) {
    context.runOnContext(v -> task.run());
  }

  /** Runs a call on the loop; its outcome may be waited for on another thread. */
  private <T> CompletableFuture<T> onLoop(Supplier<Future<T>> call) {
    CompletableFuture<T> outcome = new CompletableFuture<>();
    Promise<T> promise = Promise.promise();
    promise.future().onSuccess(outcome::complete).onFailure(outcome::completeExceptionally);
    try {
      context.runOnContext(v -> {
        try {
          call.get().onComplete(promise);
        } catch (RuntimeException | Error e) { // whatever it is: a model thread waits
          promise.fail(e);
        }
      });
    } catch (RejectedExecutionException e) {
      promise.fail(new Cancelled(name() + " is stopped"));
    }
    return outcome;
  }
}
