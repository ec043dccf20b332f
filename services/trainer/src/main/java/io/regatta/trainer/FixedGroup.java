package io.regatta.trainer;

import com.google.protobuf.Message;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.NotOwner;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.exchange.Wait.Peer;
import io.regatta.core.reduce.Elementwise;
import io.regatta.data.Layout;
import io.regatta.data.Parcel;
import io.regatta.node.Node;
import io.regatta.node.directory.Directory;
import io.regatta.node.group.GroupMembership;
import io.regatta.node.group.MemberContext;
import io.regatta.protocol.message.Float64s;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.training.config.GpuAssignment;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.TrainerConfig;
import io.regatta.training.session.DepartedTrainer;
import io.regatta.training.session.GatheredCalls;
import io.regatta.training.session.RankCalls;
import io.regatta.training.session.RankOperations;
import io.vertx.core.Context;
import io.vertx.core.Future;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The group of a job with a fixed number of trainers, at the rendezvous service. The others do not wait for a rank that
 * is lost, and another trainer may take it. Owned by {@link TrainerVerticle}'s event loop.
 */
final class FixedGroup implements TrainerGroup, GatheredCalls.Meeting {

  /** Longest time from the end of a lease until the loss is known here. */
  private static final long LOSS_NOTICE_MILLIS = 2_000;

  private final Node node;
  private final Context context;
  private final OwnerLoop loop;
  private final TrainerConfig config;
  private final JobConfig job;
  private final RankProgress progress;
  private final Consumer<Throwable> givenUp;
  private final OtherTrainers others;
  /** Null before {@link #join}. */
  private GroupMembership member;
  /** These are set by {@link #begins}. */
  private TrainerId trainer;
  private RankOperations.Waiting waiting;
  private WaitPeers peers;
  private RankCalls calls;
  /** The last exchange of examples; null if there was none. */
  private ExampleTransfer transfer;
  private Future<RankMesh> meeting;
  private volatile RankOperations ranks;
  private volatile boolean withoutRendezvous;

  FixedGroup(Node node, Context context, TrainerConfig config, RankProgress progress, Consumer<Throwable> givenUp) {
    this.node = node;
    this.context = context;
    this.config = config;
    this.progress = progress;
    this.givenUp = givenUp;
    loop = new OwnerLoop(context, this::name);
    job = config.job();
    others = new OtherTrainers(job, this::rank, progress::lastStep);
  }

  @Override
  public Future<Void> join(Directory.Instance rendezvous, String who, String name) {
    member = new GroupMembership(MemberContext.of(node), rendezvous, job.job(), "trainer", progress::lastStep,
        view -> others.seen(view, member.leaseMillis()), givenUp::accept)
        .ofRun(job.runId()).counting(progress::examples);
    return member.join(who, job.worldSize(), config.rank(), name, config.endpoint(), node.config().readyTimeout());
  }

  @Override
  public boolean hasRank() {
    return member != null;
  }

  @Override
  public int rank() {
    return member.rank();
  }

  @Override
  public long generation() {
    return member.generation();
  }

  @Override
  public List<String> hosts() {
    return member.hosts();
  }

  @Override
  public String size() {
    return job.trainers() + " trainers";
  }

  @Override
  public void begins(RankOperations.Waiting modelThreads, WaitPeers findingOut) {
    trainer = new TrainerId(member.rank(), member.incarnation());
    waiting = modelThreads;
    peers = findingOut;
    calls = new GatheredCalls(trainer.rank(), this, modelThreads);
  }

  private String name() {
    return "trainer " + rank() + " of job " + job.job();
  }

  private StreamOptions streams() {
    return node.streams(config.stream().options());
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
    return GpuAssignment.localRank(member.hosts(), trainer.rank());
  }

  @Override
  public List<String> endpoints() {
    return member.endpoints();
  }

  @Override
  public RankCalls calls() {
    return calls;
  }

  @Override
  public Optional<RankOperations> ranks() {
    return Optional.ofNullable(ranks);
  }

  @Override
  public Future<RankOperations> meet() {
    if (meeting == null) {
      MeetingPlace place = MeetingPlace.gathered(node, member, job, name());
      meeting = RankMesh.open(node, context, place, streams(), job, rank(), name(), why -> { }, () -> { })
          .onSuccess(mesh -> ranks = new RankOperations(node.clock(), "trainer of job " + job.job(), mesh, waiting));
    }
    return meeting.map(mesh -> ranks);
  }

  @Override
  public <M extends Message> CompletableFuture<List<M>> gather(String key, M mine) {
    return peers.gathering(key, loop.call(() -> member.gather(key, mine).onFailure(this::noteLostRendezvous)));
  }

  @Override
  public CompletableFuture<GatheredCalls.Reduced> reduce(String key, Elementwise how, double[] slice, int ofValues) {
    return peers.gathering(key, loop.call(() -> member.reduce(key, how, slice, ofValues).onFailure(this::noteLostRendezvous)
        .map(reply -> new GatheredCalls.Reduced(Float64s.values(reply.getPayloads(0)), reply.getRanksList()))));
  }

  private void noteLostRendezvous(Throwable why) {
    withoutRendezvous |= why instanceof PeerLost || why instanceof NotOwner;
  }

  @Override
  public CompletableFuture<List<List<Parcel>>> exchange(String key, Layout layout, List<List<Parcel>> outgoing) {
    return peers.gathering(key, loop.call(() -> {
      transfer = new ExampleTransfer(node.vertx(), node.bind(), node.host(), streams(), name(), rank(), key, layout,
          outgoing);
      return transfer.run(mine -> member.gather(key, mine));
    }));
  }

  @Override
  public Future<List<Peer>> missing(String key) {
    return member.missing(key);
  }

  @Override
  public boolean isWithoutRendezvous() {
    return withoutRendezvous;
  }

  @Override
  public CompletableFuture<List<DepartedTrainer>> departed() {
    return loop.call(() -> withoutRendezvous ? Future.succeededFuture(others.departed())
        : member.view().map(view -> view.stream().flatMap(of -> of.getMembersList().stream())
            .filter(other -> !other.getState().equals("active")).map(OtherTrainers::departed).toList()));
  }

  @Override
  public boolean isLowest() {
    return trainer.rank() == 0 || others.isLowest();
  }

  @Override
  public CompletableFuture<Boolean> lowest() {
    return loop.call(() -> isLowest() || withoutRendezvous ? Future.succeededFuture(isLowest())
        : others.becomesLowest().map(true).timeout(member.leaseMillis() + LOSS_NOTICE_MILLIS, TimeUnit.MILLISECONDS)
            .otherwise(false));
  }

  @Override
  public void ending() {
    loop.execute(() -> {
      others.ending();
      member.answer(); // the others must know that all is trained, whatever happens to this process now
    });
  }

  @Override
  public void reachedTheEnd(Set<Integer> there) {
    loop.execute(() -> others.atTheEnd(there));
  }

  @Override
  public Future<Void> leave(boolean succeeded) {
    return member == null ? Future.succeededFuture() : member.leave(false, succeeded);
  }

  @Override
  public Future<Void> closeStreams() {
    if (transfer != null) {
      transfer.abort(new Cancelled(name() + " is being stopped"));
    }
    return meeting == null ? Future.succeededFuture() : meeting.compose(mesh -> mesh.close(false)).otherwiseEmpty();
  }
}
