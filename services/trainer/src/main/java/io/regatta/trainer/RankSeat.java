package io.regatta.trainer;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.node.Node;
import io.regatta.node.directory.Directory;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.TrainerConfig;
import io.vertx.core.Context;
import io.vertx.core.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** One trainer's part in its job: taken, asked for its rank, and left. Owned by {@link TrainerVerticle}, on its event loop. */
final class RankSeat {

  /** How long each farewell may take, and model threads to find out that they are to end: who is frozen or gone is not waited for. */
  private static final long FAREWELL_MILLIS = 1000;

  private final Node node;
  private final Context context;
  private final TrainerConfig config;
  private final JobConfig job;
  private final RankProgress progress = new RankProgress();
  private final TrainerGroup group;
  /** Each null until it is there. */
  private ShardConnections connections;
  private RankSession session;

  /**
   * Takes nothing yet.
   *
   * @param givenUp notified of the reason if this trainer is given up by the others
   * @param placed notified of each generation of an elastic job that this trainer has a rank in
   */
  RankSeat(Node node, Context context, TrainerConfig config, Consumer<Throwable> givenUp, Runnable placed) {
    this.node = node;
    this.context = context;
    this.config = config;
    job = config.job();
    group = TrainerGroup.of(node, context, config, progress, givenUp, placed);
  }

  /** Takes it, and waits for the others: {@link TrainerGroup#join}. */
  Future<Void> join(Directory.Instance rendezvous, String who, String member) {
    return group.join(rendezvous, who, member);
  }

  /** Whether {@link #rank} can be asked: {@link TrainerGroup#hasRank}. */
  boolean hasRank() {
    return group.hasRank();
  }

  /** In an elastic job, that of the generation now. */
  int rank() {
    return group.rank();
  }

  /** Steps that this rank has made. Any thread. */
  long step() {
    return progress.step();
  }

  /** The session of the rank that has joined. Once. */
  RankSession session(ShardFinder.Found servers) {
    connections = new ShardConnections(node, job, group::generation, progress::lastStep,
        node.streams(config.stream().options()));
    session = new RankSession(node, context, job, config.stepDelayMs(), group, progress, servers, connections);
    return session;
  }

  /** What a user is told of it, once there is a session. */
  String joined() {
    int shards = session.shards();
    return job.servers() == 0 ? group.size() + " exchange gradients among themselves"
        : shards + " shard" + (shards == 1 ? "" : "s") + " on servers " + session.serverEndpoints();
  }

  /**
   * Leaves in order, as far as it has come: shards, group, connections. Each farewell has its time. Once; never fails.
   *
   * @param succeeded whether this rank's run has ended with success
   */
  Future<Void> leave(boolean succeeded) {
    return (session == null ? Future.<Void>succeededFuture() : soon(session.leaveShards(succeeded)))
        .compose(v -> soon(group.leave(succeeded)))
        .compose(v -> session == null ? Future.succeededFuture() : soon(session.closeLinks()))
        .compose(v -> connections == null ? Future.succeededFuture() : soon(connections.close()));
  }

  static Future<Void> soon(Future<Void> farewell) {
    return farewell.timeout(FAREWELL_MILLIS, TimeUnit.MILLISECONDS).otherwiseEmpty();
  }

  /** Of a trainer that is stopped while it takes its seat. */
  static Cancelled stopped(String who) {
    return new Cancelled(who + " was stopped while it started");
  }
}
