package io.regatta.trainer;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.node.Node;
import io.regatta.node.directory.Directory;
import io.regatta.protocol.vertx.VertxLoop;
import io.regatta.trainer.heter.HeterWorkers;
import io.regatta.trainer.heter.SendingRank;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.TrainerConfig;
import io.vertx.core.Context;
import io.vertx.core.Future;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One trainer's membership in its job: joining, its rank, and leaving. Owned by {@link TrainerVerticle}, on its event
 * loop.
 */
final class RankSeat {

  private static final Logger LOG = LoggerFactory.getLogger(RankSeat.class);
  /**
   * Longest time for each step of leaving, and for model threads to notice that they must end: frozen or lost processes
   * are not awaited.
   */
  private static final long FAREWELL_MILLIS = 1000;

  private final Node node;
  private final Context context;
  private final TrainerConfig config;
  private final JobConfig job;
  private final RankProgress progress = new RankProgress();
  private final TrainerGroup group;
  /** Each is null until it exists. */
  private ShardConnections connections;
  private RankSession session;
  private List<Directory.Instance> heterWorkers = List.of();

  /**
   * Creates the membership; joins nothing yet.
   *
   * @param givenUp notified of the reason if the others remove this trainer
   * @param placed notified of each generation of an elastic job in which this trainer has a rank
   */
  RankSeat(Node node, Context context, TrainerConfig config, Consumer<Throwable> givenUp, Runnable placed) {
    this.node = node;
    this.context = context;
    this.config = config;
    job = config.job();
    group = TrainerGroup.of(node, context, config, progress, givenUp, placed);
  }

  /** Joins, and waits for the others; see {@link TrainerGroup#join}. */
  Future<Void> join(Directory.Instance rendezvous, String who, String member) {
    return group.join(rendezvous, who, member);
  }

  /** Returns true if {@link #rank} may be called; see {@link TrainerGroup#hasRank}. */
  boolean hasRank() {
    return group.hasRank();
  }

  /** Returns the rank; in an elastic job, that of the present generation. */
  int rank() {
    return group.rank();
  }

  /** Returns the steps that this rank has made. Any thread. */
  long step() {
    return progress.step();
  }

  /** Waits for the services that the job needs beside servers: heter workers, if its network is cut. */
  Future<Void> awaitAuxiliaries(String who) {
    return !job.heter().isCut() ? Future.succeededFuture() : node.directory()
        .await(Directory.HETER_WORKER, job.heter().workers(), node.config().readyTimeout(), who)
        .onSuccess(found -> heterWorkers = found).mapEmpty();
  }

  /** Creates the session of the rank that has joined. Called once. */
  RankSession session(ShardFinder.Found servers) {
    connections = new ShardConnections(node, job, group::generation, progress::lastStep,
        node.streams(config.stream().options()));
    HeterWorkers remote = heterWorkers.isEmpty() ? null : remote();
    session = new RankSession(node, context, job, config.stepDelayMs(), group, progress, servers, connections, remote);
    if (remote != null) { // the group names this trainer since the session has begun
      remote.start(heterWorkers).onFailure(e -> LOG.debug("{}", e.getMessage())); // the first batch fails with it
    }
    return session;
  }

  private HeterWorkers remote() {
    return new HeterWorkers(VertxLoop.of(context), connections.streams(), connections.options(),
        () -> node.directory().list(Directory.HETER_WORKER), node.config().readyTimeout(),
        job.heter().isDenseAtWorkers(),
        new SendingRank(job.job(), group::trainer, group::generation, progress::lastStep));
  }

  /** Returns a description of the joined job for the user, once there is a session. */
  String joined() {
    int shards = session.shards();
    return job.servers() == 0 ? group.size() + " exchange gradients among themselves"
        : shards + " shard" + (shards == 1 ? "" : "s") + " on servers " + session.serverEndpoints();
  }

  /**
   * Leaves in order, as far as it has joined: shards, group, connections. Each step has its own time limit. Called
   * once; never fails.
   *
   * @param succeeded true if this rank's run has ended with success
   */
  Future<Void> leave(boolean succeeded) {
    return (session == null ? Future.<Void>succeededFuture() : soon(session.leaveShards(succeeded)))
        .compose(v -> soon(group.leave(succeeded)))
        .compose(v -> session == null ? Future.succeededFuture() : soon(session.closeLinks(succeeded)))
        .compose(v -> connections == null ? Future.succeededFuture() : soon(connections.close()));
  }

  static Future<Void> soon(Future<Void> farewell) {
    return farewell.timeout(FAREWELL_MILLIS, TimeUnit.MILLISECONDS).otherwiseEmpty();
  }

  /** Returns the error of a trainer that is stopped while it joins. */
  static Cancelled stopped(String who) {
    return new Cancelled(who + " was stopped while it started");
  }
}
