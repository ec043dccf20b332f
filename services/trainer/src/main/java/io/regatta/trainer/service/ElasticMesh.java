package io.regatta.trainer.service;

import io.regatta.collective.CollectivePort;
import io.regatta.collective.Collectives;
import io.regatta.collective.Joining;
import io.regatta.collective.Membership;
import io.regatta.collective.Seat;
import io.regatta.core.collective.ReduceOp;
import io.regatta.core.collective.Tensor;
import io.regatta.core.collective.TensorMemory;
import io.regatta.core.collective.WireType;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.loop.Clock;
import io.regatta.core.loop.Timer;
import io.regatta.node.Node;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.vertx.VertxLoop;
import io.regatta.trainer.config.JobConfig;
import io.regatta.trainer.session.ElasticPeers;
import io.vertx.core.AsyncResult;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * One trainer of an elastic job among the others: its seat in the job's group, its port, and the collectives of the generation that
 * is formed over it. Owned by the event loop of {@link TrainerVerticle}, on which it is opened and closed; asked on the model thread.
 */
final class ElasticMesh implements ElasticPeers {

  private final Context context;
  private final MeetingPlace meeting;
  private final CollectivePort port;
  private final Seat seat;
  private final Consumer<Throwable> lost;
  private final Runnable placed;
  /** Null if the generation could not be formed. */
  private volatile Collectives collectives;
  private volatile Membership place;
  private volatile boolean newcomers;
  /** This trainer has come to the end of its run; and it gives its seat up, at its end or before. */
  private volatile boolean ending;
  private volatile boolean closing;
  /** The last one; on the loop. */
  private CompletableFuture<Void> pause = CompletableFuture.completedFuture(null);

  private ElasticMesh(Context context, MeetingPlace meeting, CollectivePort port, Seat seat, Consumer<Throwable> lost,
      Runnable placed) {
    this.lost = lost;
    this.placed = placed;
    this.context = context;
    this.meeting = meeting;
    this.port = port;
    this.seat = seat;
  }

  /**
   * Joins the job's group, and forms its generation with the others.
   *
   * @param meeting where they meet; the mesh's from now on, which closes it
   * @param wanted rank, -1 for any
   * @param member how messages to others call this trainer
   * @param lost told why if this trainer is given up there; on the loop
   * @param placed told of each generation that this trainer has a rank in; on the loop
   */
  static Future<ElasticMesh> open(Node node, Context context, MeetingPlace meeting, StreamOptions streams, JobConfig job,
      int wanted, String member, Consumer<Throwable> lost, Runnable placed) {
    Future<CollectivePort> listening = MeshOptions.read(node, streams, job)
        .compose(options -> CollectivePort.listen(node, meeting.host(), options));
    return listening.compose(port -> {
      Joining joining = new Joining(job.job(), job.fewestTrainers(), job.trainers(), wanted, member, port.endpoint(),
          node.config().readyTimeout(), Joining.SETTLE, job.runId());
      return meeting.rendezvous().join(joining).map(seat -> new ElasticMesh(context, meeting, port, seat, lost, placed))
          .compose(mesh -> mesh.form(mesh.seat.membership()).otherwiseEmpty().map(mesh)) // if somebody is lost now: reform
          .recover(e -> port.close().transform(closed -> Future.failedFuture(e)));
    }).recover(e -> meeting.close().transform(closed -> Future.failedFuture(e)));
  }

  /** Returns the clock of its process. */
  Clock clock() {
    return VertxLoop.of(context).clock();
  }

  private Future<Void> form(Membership ranks) {
    place = ranks;
    context.runOnContext(v -> placed.run());
    newcomers = false;
    collectives = null;
    seat.newcomers().onSuccess(who -> newcomers = place == ranks);
    Promise<Void> forming = Promise.promise();
    seat.gone().onComplete(who -> context.runOnContext(v -> { // who would wait for their streams until patience ends
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
      if (place == ranks && !ending && !closing) { // at the end everybody leaves
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
  public long generation() {
    return place.generation();
  }

  @Override
  public boolean newcomers() {
    return newcomers;
  }

  @Override
  public CompletableFuture<Void> sum(ByteBuffer floats, WireType wire) {
    return call(ranks -> ranks.allReduce(Tensor.of(floats).on(wire), ReduceOp.SUM));
  }

  @Override
  public CompletableFuture<Boolean> sum(TensorMemory memory, int from, int to, WireType wire) {
    Tensor tensor = Tensor.of(memory, from, to).on(wire).watched();
    return call(ranks -> ranks.allReduce(tensor, ReduceOp.SUM)).thenApply(summed -> tensor.isKnownFinite());
  }

  @Override
  public TensorMemory memory(int bytes) {
    return port.memory(bytes);
  }

  @Override
  public CompletableFuture<Void> broadcast(ByteBuffer floats, int root) {
    return call(ranks -> ranks.broadcast(Tensor.of(floats), root));
  }

  @Override
  public CompletableFuture<Void> gather(long[] parts) {
    return call(ranks -> ranks.allGather(Tensor.of(parts)));
  }

  @Override
  public CompletableFuture<Void> broadcast(long[] values, int root) {
    return call(ranks -> ranks.broadcast(Tensor.of(values), root));
  }

  private CompletableFuture<Void> call(Function<Collectives, Future<Void>> call) {
    Collectives ranks = collectives;
    if (ranks == null) {
      return CompletableFuture.failedFuture(new PeerLost(place + " has not been formed by all its ranks"));
    }
    return call.apply(ranks).recover(e -> Future.failedFuture(over(e))).toCompletionStage().toCompletableFuture();
  }

  /** Whatever ends a generation, those who are left form the next one; but for a call that the others do not make. */
  private Throwable over(Throwable e) {
    return e instanceof InvalidInput || e instanceof PeerLost || e instanceof Error ? e : new PeerLost(place + " is over: "
        + e.getMessage(), e);
  }

  /**
   * Waits without limit: there may be too few for as long as nobody is started, and members who live may be about to write a large
   * model; {@code /why} and the log say who is waited for, and who dies is found out by its lease.
   */
  @Override
  public CompletableFuture<Void> reform(boolean inVain) {
    CompletableFuture<Void> formed = new CompletableFuture<>();
    context.runOnContext(v -> {
      if (closing || port.isClosed()) {
        formed.completeExceptionally(new Cancelled(place + ": this trainer is giving its seat up"));
        return;
      }
      Collectives before = collectives;
      (before == null ? Future.<Void>succeededFuture() : before.close())
          .transform(closed -> port.unreachable(place))
          .compose(unreachable -> seat.reform(new Seat.Reform(Seat.Reform.UNLIMITED, ending, unreachable, inVain))
              .recover(e -> Future.failedFuture(new StaleGeneration("the next generation of the trainers of job " + place.group()
                  + " has not formed, or without this one: " + e.getMessage()))))
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

  /** From now on who leaves has come to the end of the run. */
  void ending() {
    ending = true;
  }

  /**
   * Gives the seat up, behind everything that the others still wait for from here.
   *
   * @param succeeded whether this rank's run has ended with success
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
