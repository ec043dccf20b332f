package io.regatta.trainer;

import io.regatta.collective.CollectivePort;
import io.regatta.collective.Collectives;
import io.regatta.collective.Joining;
import io.regatta.collective.Membership;
import io.regatta.collective.Seat;
import io.regatta.core.collective.Tensor;
import io.regatta.core.collective.TensorMemory;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.loop.Timer;
import io.regatta.node.Node;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.vertx.VertxLoop;
import io.regatta.training.config.JobConfig;
import io.regatta.training.session.PeerRanks;
import io.regatta.training.session.RankGroup;
import io.vertx.core.AsyncResult;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * One trainer of a collective job among the others: its seat at the rendezvous, its port, and the collectives of the
 * present generation. A job with a fixed number of trainers has one generation. Opened and closed on the event loop of
 * {@link TrainerVerticle}, which owns it; called on the model thread.
 */
final class RankMesh extends CollectivePeers implements RankGroup {

  private final Context context;
  private final MeetingPlace meeting;
  private final boolean elastic;
  private final CollectivePort port;
  private final Seat seat;
  private final Consumer<Throwable> lost;
  private final Runnable placed;
  /** Null if the generation could not be formed. */
  private volatile Collectives collectives;
  private volatile Membership place;
  private volatile boolean newcomers;
  /** Set when this trainer has reached the end of its run, and when it leaves its seat, at its end or before. */
  private volatile boolean ending;
  private volatile boolean closing;
  /** The last pause; used on the loop. */
  private CompletableFuture<Void> pause = CompletableFuture.completedFuture(null);

  private RankMesh(Context context, MeetingPlace meeting, boolean elastic, CollectivePort port, Seat seat,
      Consumer<Throwable> lost, Runnable placed) {
    this.lost = lost;
    this.placed = placed;
    this.context = context;
    this.meeting = meeting;
    this.elastic = elastic;
    this.port = port;
    this.seat = seat;
  }

  /**
   * Joins the others at the rendezvous, and forms a generation with them.
   *
   * @param meeting the rendezvous; the mesh owns it from now on, and closes it
   * @param wanted rank, -1 for any
   * @param member name of this trainer in messages to others
   * @param lost notified of the reason if the others remove this trainer; on the loop
   * @param placed notified of each generation in which this trainer has a rank; on the loop
   */
  static Future<RankMesh> open(Node node, Context context, MeetingPlace meeting, StreamOptions streams, JobConfig job,
      int wanted, String member, Consumer<Throwable> lost, Runnable placed) {
    boolean elastic = job.worldSize().elastic();
    Duration patience = node.config().readyTimeout();
    Future<CollectivePort> listening = MeshOptions.read(node, streams, job)
        .map(options -> elastic ? options : options.withStartTimeoutMillis(patience.toMillis()))
        .compose(options -> CollectivePort.listen(node, meeting.host(), options));
    return listening.compose(port -> {
      Joining joining = new Joining(job.job(), job.worldSize().min(), job.worldSize().max(), wanted, member, port.endpoint(),
          patience, Joining.SETTLE, job.runId());
      return meeting.rendezvous().join(joining)
          .map(seat -> new RankMesh(context, meeting, elastic, port, seat, lost, placed))
          .compose(RankMesh::formFirst)
          .recover(e -> port.close().transform(closed -> Future.failedFuture(e)));
    }).recover(e -> meeting.close().transform(closed -> Future.failedFuture(e)));
  }

  /** Forms the first generation. If a rank is lost meanwhile, those of an elastic job form the next one. */
  private Future<RankMesh> formFirst() {
    Future<Void> forming = form(seat.membership());
    return (elastic ? forming.<Void>otherwiseEmpty() : forming).map(this);
  }

  private Future<Void> form(Membership ranks) {
    place = ranks;
    context.runOnContext(v -> placed.run());
    newcomers = false;
    collectives = null;
    seat.newcomers().onSuccess(who -> newcomers = place == ranks);
    Promise<Void> forming = Promise.promise();
    seat.gone().onComplete(who -> context.runOnContext(v -> { // else it would wait until the start timeout
      forming.tryFail(who.failed() ? who.cause() : new PeerLost(ranks + " cannot be formed any more: " + who.result()));
      if (who.failed() && who.cause() instanceof StaleGeneration) {
        lost.accept(who.cause());
      }
    }));
    port.form(ranks).onComplete(end -> context.runOnContext(v -> formed(ranks, end, forming)));
    return forming.future();
  }

  private void formed(Membership ranks, AsyncResult<Collectives> end, Promise<Void> forming) {
    if (end.failed()) {
      forming.tryFail(end.cause());
      return;
    }
    Collectives formed = end.result();
    if (forming.future().isComplete()) {
      formed.close();
      return;
    }
    collectives = formed;
    seat.ended().onComplete(over -> {
      if (place == ranks && !ending && !closing) { // at the end all leave
        formed.close();
      }
    });
    forming.complete();
  }

  Membership place() {
    return place;
  }

  @Override
  public int rank() {
    return place.rank();
  }

  @Override
  public int worldSize() {
    return place.worldSize();
  }

  @Override
  public boolean isElastic() {
    return elastic;
  }

  @Override
  public long generation() {
    return place.generation();
  }

  @Override
  public boolean newcomers() {
    return newcomers;
  }

  /** Returns memory that other processes of this machine can read, if there may be any among the ranks. */
  @Override
  public TensorMemory memory(int bytes) {
    return elastic || place.onHost() > 1 ? port.memory(bytes) : TensorMemory.direct(bytes);
  }

  @Override
  public CompletableFuture<Void> broadcast(long[] values, int root) {
    return call(ranks -> ranks.broadcast(Tensor.of(values), root));
  }

  @Override
  CompletableFuture<Void> call(Function<Collectives, Future<Void>> call) {
    Collectives ranks = collectives;
    if (ranks == null) {
      return CompletableFuture.failedFuture(new PeerLost(place + " has not been formed by all its ranks"));
    }
    return call.apply(ranks).recover(e -> Future.failedFuture(over(e))).toCompletionStage().toCompletableFuture();
  }

  @Override
  public CompletableFuture<PeerRanks> apart(String name) {
    if (elastic) {
      return RankGroup.super.apart(name);
    }
    Membership ranks = new Membership(place.group() + "/" + name, place.generation(), place.rank(), place.endpoints());
    return port.form(ranks).<PeerRanks>map(formed -> new CollectivePeers() {
      @Override
      CompletableFuture<Void> call(Function<Collectives, Future<Void>> call) {
        return call.apply(formed).toCompletionStage().toCompletableFuture();
      }
    }).toCompletionStage().toCompletableFuture();
  }

  /**
   * Maps the error that ends a generation of an elastic job to {@code PeerLost}, after which the remaining ranks form
   * the next one. A call that the others do not make stays {@code InvalidInput}.
   */
  private Throwable over(Throwable e) {
    return !elastic || e instanceof InvalidInput || e instanceof PeerLost || e instanceof Error ? e
        : new PeerLost(place + " is over: " + e.getMessage(), e);
  }

  /**
   * Forms the next generation. It waits without limit: there may be too few trainers until another is started, and
   * active members may be about to write a large model. The awaited trainers are named by {@code /why} and the log, and
   * the lease detects a dead one.
   */
  @Override
  public CompletableFuture<Void> reform(boolean inVain) {
    CompletableFuture<Void> formed = new CompletableFuture<>();
    context.runOnContext(v -> {
      if (closing || port.isClosed()) {
        formed.completeExceptionally(new Cancelled(place + ": this trainer is leaving its seat"));
        return;
      }
      Collectives before = collectives;
      (before == null ? Future.<Void>succeededFuture() : before.close())
          .transform(closed -> port.unreachable(place))
          .compose(unreachable -> seat.reform(new Seat.Reform(Seat.Reform.UNLIMITED, ending, unreachable, inVain))
              .recover(e -> Future.failedFuture(new StaleGeneration("the next generation of the trainers of job " + place.group()
                  + " has not formed, or has formed without this one: " + e.getMessage()))))
          .compose(ranks -> form(ranks).recover(e -> Future.failedFuture(over(e))))
          .onSuccess(formed::complete).onFailure(formed::completeExceptionally);
    });
    return formed;
  }

  @Override
  public CompletableFuture<Void> pause(long millis) {
    CompletableFuture<Void> over = new CompletableFuture<>();
    context.runOnContext(v -> {
      if (closing) {
        over.complete(null);
        return;
      }
      pause = over;
      Timer timer = VertxLoop.of(context).after(millis, () -> over.complete(null));
      over.thenRun(timer::cancel);
    });
    return over;
  }

  /** Notes the end of the run: trainers that leave from now on have reached it. */
  void ending() {
    ending = true;
  }

  /**
   * Ends running calls, and leaves the seat after everything that the others still need from here.
   *
   * @param succeeded true if this rank's run has ended with success
   */
  Future<Void> close(boolean succeeded) {
    closing = true;
    pause.complete(null);
    Collectives last = collectives;
    return (last == null ? Future.<Void>succeededFuture() : last.close())
        .transform(closed -> seat.leave(succeeded ? Seat.Leaving.WITH_SUCCESS
            : ending ? Seat.Leaving.AT_THE_END : Seat.Leaving.BEFORE_THE_END)).transform(left -> port.close()).transform(closed -> meeting.close());
  }
}
