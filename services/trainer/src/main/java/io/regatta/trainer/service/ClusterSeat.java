package io.regatta.trainer.service;

import io.regatta.core.error.RegattaException;
import io.regatta.node.Node;
import io.regatta.node.directory.Directory;
import io.regatta.node.group.MemberContext;
import io.regatta.node.group.Membership;
import io.regatta.trainer.config.JobConfig;
import io.regatta.trainer.config.TrainerConfig;
import io.vertx.core.Context;
import io.vertx.core.Future;
import java.util.function.Consumer;

/** The seat of a job with a fixed number of trainers, whose group is at the rendezvous service. */
final class ClusterSeat implements RankSeat {

  private final Node node;
  private final Context context;
  private final TrainerConfig config;
  private final JobConfig job;
  private final Consumer<RegattaException> givenUp;
  private final OtherTrainers others;
  /** Each null until it is there. */
  private Membership group;
  private ShardConnections connections;
  private ClusterSession session;

  /** @param givenUp told once, why, if the rendezvous takes the seat away */
  ClusterSeat(Node node, Context context, TrainerConfig config, Consumer<RegattaException> givenUp) {
    this.node = node;
    this.context = context;
    this.config = config;
    this.givenUp = givenUp;
    job = config.job();
    others = new OtherTrainers(job, this::rank, this::lastStep);
  }

  private long lastStep() {
    return session == null ? -1 : session.step() - 1;
  }

  private long examples() {
    return session == null ? 0 : session.examples();
  }

  @Override
  public Future<Void> join(Directory.Instance rendezvous, String who, String member) {
    group = new Membership(MemberContext.of(node), rendezvous, job.job(), "trainer", this::lastStep,
        view -> others.seen(view, group.leaseMillis()), givenUp).ofRun(job.runId()).counting(this::examples);
    return group.join(who, job.trainers(), config.rank(), member, config.endpoint(), node.config().readyTimeout());
  }

  @Override
  public boolean hasRank() {
    return group != null;
  }

  @Override
  public int rank() {
    return group.rank();
  }

  @Override
  public OwnedSession session(ShardFinder.Found servers) {
    connections = new ShardConnections(node, job, group::generation, this::lastStep, node.streams(config.stream().options()));
    session = new ClusterSession(node, context, job, config.stepDelayMs(), group, others, servers, connections);
    return session;
  }

  @Override
  public String joined() {
    return job.servers() == 0 ? job.trainers() + " trainers exchange gradients among themselves"
        : session.shards() + " shard" + (session.shards() == 1 ? "" : "s") + " on servers " + session.serverEndpoints();
  }

  @Override
  public Future<Void> leave(boolean succeeded) {
    return (session == null ? Future.<Void>succeededFuture() : RankSeat.soon(session.leaveShards(succeeded)))
        .compose(v -> group == null ? Future.succeededFuture() : RankSeat.soon(group.leave(false, succeeded)))
        .compose(v -> session == null ? Future.succeededFuture() : RankSeat.soon(session.closeLinks()))
        .compose(v -> connections == null ? Future.succeededFuture() : RankSeat.soon(connections.close()));
  }
}
