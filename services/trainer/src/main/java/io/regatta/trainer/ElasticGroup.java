package io.regatta.trainer;

import io.regatta.collective.Membership;
import io.regatta.core.exchange.TrainerId;
import io.regatta.node.Node;
import io.regatta.node.address.HostPort;
import io.regatta.node.directory.Directory;
import io.regatta.training.config.GpuAssignment;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.TrainerConfig;
import io.regatta.training.session.RankCalls;
import io.regatta.training.session.RankOperations;
import io.vertx.core.Context;
import io.vertx.core.Future;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The group of an elastic job, in each generation that its trainers form at the rendezvous. Owned by
 * {@link TrainerVerticle}'s event loop.
 */
final class ElasticGroup implements TrainerGroup {

  private final Node node;
  private final Context context;
  private final TrainerConfig config;
  private final JobConfig job;
  private final Consumer<Throwable> givenUp;
  private final Runnable placed;
  /** Owned by the mesh once there is one. */
  private MeetingPlace meeting;
  private RankMesh mesh;
  private boolean left;
  /** Set by {@link #begins}. */
  private RankOperations ranks;

  ElasticGroup(Node node, Context context, TrainerConfig config, Consumer<Throwable> givenUp, Runnable placed) {
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
        .compose(opened -> onOpened(opened, who));
  }

  private Future<RankMesh> meet(MeetingPlace opened, String who, String member) {
    meeting = opened;
    if (left) {
      return opened.close().transform(closed -> Future.failedFuture(RankSeat.stopped(who)));
    }
    return RankMesh.open(node, context, opened, node.streams(config.stream().options()), job, config.rank(), member,
        givenUp, placed);
  }

  private Future<Void> onOpened(RankMesh opened, String who) {
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
  public long generation() {
    return mesh.generation();
  }

  @Override
  public List<String> hosts() {
    return hosts(mesh.place());
  }

  private static List<String> hosts(Membership place) {
    return place.endpoints().stream().map(of -> HostPort.parse(of, "endpoint").host()).toList();
  }

  @Override
  public String size() {
    return mesh.worldSize() + " of " + job.worldSize().min() + " to " + job.worldSize().max() + " trainers";
  }

  @Override
  public void begins(RankOperations.Waiting waiting, WaitPeers peers) {
    ranks = new RankOperations(node.clock(), "trainer of job " + job.job(), mesh, waiting);
  }

  @Override
  public TrainerId trainer() {
    return new TrainerId(mesh.rank(), ranks.life());
  }

  @Override
  public int worldSize() {
    return mesh.worldSize();
  }

  @Override
  public int localRank() {
    Membership place = mesh.place();
    return GpuAssignment.localRank(hosts(place), place.rank());
  }

  @Override
  public List<String> endpoints() {
    return mesh.place().endpoints();
  }

  @Override
  public RankCalls calls() {
    return ranks.calls();
  }

  @Override
  public Optional<RankOperations> ranks() {
    return Optional.of(ranks);
  }

  @Override
  public Future<RankOperations> meet() {
    return Future.succeededFuture(ranks);
  }

  @Override
  public void ending() {
    mesh.ending();
  }

  @Override
  public Future<Void> leave(boolean succeeded) {
    left = true;
    return mesh != null ? mesh.close(succeeded) : meeting != null ? meeting.leave() : Future.succeededFuture();
  }

  /** Returns at once: the streams are closed when the rank is released. */
  @Override
  public Future<Void> closeStreams() {
    return Future.succeededFuture();
  }
}
