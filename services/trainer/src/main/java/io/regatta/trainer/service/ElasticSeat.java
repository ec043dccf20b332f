package io.regatta.trainer.service;

import io.regatta.node.Node;
import io.regatta.node.directory.Directory;
import io.regatta.trainer.config.JobConfig;
import io.regatta.trainer.config.TrainerConfig;
import io.vertx.core.Context;
import io.vertx.core.Future;
import java.util.function.Consumer;

/** The seat of an elastic job, in whichever generation its trainers form where they meet. */
final class ElasticSeat implements RankSeat {

  private final Node node;
  private final Context context;
  private final TrainerConfig config;
  private final JobConfig job;
  private final Consumer<Throwable> givenUp;
  private final Runnable placed;
  /** The mesh's once there is one. */
  private MeetingPlace meeting;
  private RankMesh mesh;
  private boolean left;

  /**
   * @param givenUp told why if this trainer is given up where they meet
   * @param placed told of each generation that this trainer has a rank in
   */
  ElasticSeat(Node node, Context context, TrainerConfig config, Consumer<Throwable> givenUp, Runnable placed) {
    this.node = node;
    this.context = context;
    this.config = config;
    this.givenUp = givenUp;
    this.placed = placed;
    job = config.job();
  }

  @Override
  public Future<Void> join(Directory.Instance rendezvous, String who, String member) {
    return MeetingPlace.open(node, job, rendezvous).compose(opened -> meet(opened, who, member))
        .compose(opened -> met(opened, who));
  }

  private Future<RankMesh> meet(MeetingPlace opened, String who, String member) {
    meeting = opened;
    if (left) {
      return opened.close().transform(closed -> Future.failedFuture(RankSeat.stopped(who)));
    }
    return RankMesh.open(node, context, opened, node.streams(config.stream().options()), job, config.rank(), member,
        givenUp, placed);
  }

  private Future<Void> met(RankMesh opened, String who) {
    mesh = opened;
    if (left) {
      return opened.close(false).transform(closed -> Future.failedFuture(RankSeat.stopped(who)));
    }
    return Future.succeededFuture();
  }

  @Override
  public boolean hasRank() {
    return mesh != null;
  }

  @Override
  public int rank() {
    return mesh.rank();
  }

  @Override
  public OwnedSession session(ShardFinder.Found servers) {
    return new ElasticSession(node, job, config.stepDelayMs(), mesh, servers.processIds());
  }

  @Override
  public String joined() {
    return mesh.worldSize() + " of " + job.fewestTrainers() + " to " + job.trainers()
        + " trainers exchange gradients among themselves";
  }

  @Override
  public Future<Void> leave(boolean succeeded) {
    left = true;
    return mesh != null ? RankSeat.soon(mesh.close(succeeded))
        : meeting != null ? RankSeat.soon(meeting.leave()) : Future.succeededFuture();
  }
}
