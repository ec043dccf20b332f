package io.regatta.trainer.heter;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.Wait;
import io.regatta.core.loop.Loop;
import io.regatta.node.directory.Directory;
import io.regatta.protocol.heter.BatchToCompute;
import io.regatta.protocol.heter.ComputedBatch;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.TensorStreams;
import io.regatta.protocol.tensor.CutOpen;
import io.regatta.protocol.tensor.CutOpened;
import io.regatta.training.heter.RemoteCompute;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A rank's computation of a part of its network at heter workers. It opens a stream to every worker; one of them, its
 * home, computes its batches. Its state is owned by one loop; the methods of {@link RemoteCompute} may be called on any
 * thread, and their stages complete on the loop.
 *
 * <p>The first home is the worker of index rank modulo workers. If the home is lost or full, its unanswered batches are
 * sent to another worker, in their order. If there is no other one, they wait for a worker that joins or has room
 * again, and fail after a while. When a worker joins, ranks move to it one after the other, as long as that makes the
 * numbers more equal.
 */
public final class HeterWorkers implements RemoteCompute {

  private static final Logger LOG = LoggerFactory.getLogger(HeterWorkers.class);

  private final Loop loop;
  private final SendingRank rank;
  private final HeterCounts counts = new HeterCounts();
  private final LoopCalls calls;
  private final TransferShare transfer = new TransferShare();
  private final HomeState state = new HomeState();
  private final WorkerSearch search;
  private final WorkerStreams workers;
  private final PendingBatches batches;
  private final RankHome home;
  private final Promise<Void> started = Promise.promise();
  /** True while the first streams are opened: the choice of the first home waits for all of them. */
  private boolean starting = true;
  /** Why nothing is computed any more; null: it is. */
  private RegattaException over;

  /**
   * Creates the rank's side; opens nothing yet.
   *
   * @param streams of the loop
   * @param directory lists the heter workers that are registered
   * @param patience how long batches wait for a worker when none is left
   * @param stays true if the home has dense values and gradients of this rank, which moves only when the home is lost
   */
  public HeterWorkers(Loop loop, TensorStreams streams, StreamOptions options,
      Supplier<Future<List<Directory.Instance>>> directory, Duration patience, boolean stays, SendingRank rank) {
    this.loop = loop;
    this.rank = rank;
    calls = new LoopCalls(loop);
    search = new WorkerSearch(loop, directory, patience, this::connect);
    workers = new WorkerStreams(streams, options, rank, new StreamOwner());
    batches = new PendingBatches(loop.clock(), counts, new BatchOwner());
    home = new RankHome(loop.clock(), rank, stays, search, workers, batches, state, counts, this::end);
  }

  private final class StreamOwner implements WorkerStreams.Owner {
    @Override
    public Optional<HeterWorker> home() {
      return Optional.ofNullable(home.worker());
    }

    @Override
    public void ready(HeterWorker worker) {
      HeterWorkers.this.ready(worker);
    }

    @Override
    public void hasRoom() {
      home.send();
    }

    @Override
    public void lost(HeterWorker worker, RegattaException why) {
      HeterWorkers.this.lost(worker, why);
    }
  }

  private final class BatchOwner implements PendingBatches.Owner {
    @Override
    public long[] versions() {
      return state.versions();
    }

    @Override
    public void computed(PendingBatches.Pending batch, ComputedBatch result) {
      home.computed(batch);
      transfer.answered(workers.replicas(), batch.sinceNanos, loop.clock().nanos(), batch.batch().head().getExamples(),
          PendingBatches.bytes(batch.batch().tensors()), result, PendingBatches.bytes(result.tensors()))
          .ifPresent(advice -> LOG.info("{}: {}", rank, advice));
    }

    @Override
    public void hasRoom() {
      home.send();
    }

    @Override
    public void lost(HeterWorker worker, RegattaException why) {
      workers.lost(worker, why);
    }
  }

  /**
   * Opens streams to these workers, and looks for others from now on. On the loop.
   *
   * @return completes when every stream is open or has failed. If all workers are full, it waits for room at one. Fails
   *     if no worker can be reached, or has room in time
   */
  public Future<Void> start(List<Directory.Instance> first) {
    search.relax();
    List<Future<Void>> connections = first.stream().map(workers::connect).toList();
    Future.join(connections).onComplete(done -> {
      starting = false;
      if (over != null) {
        return;
      }
      Throwable cause = connections.stream().map(Future::cause).filter(Overloaded.class::isInstance).findFirst()
          .orElse(done.cause());
      if (!workers.ready().isEmpty()) {
        begin();
      } else if (cause instanceof Overloaded) {
        awaitRoom(cause.getMessage());
      } else {
        started.fail(cause != null && !(cause instanceof PeerLost) ? cause : new PeerLost(rank
            + ": no heter worker can be reached"
            + (cause == null ? "" : ": " + cause.getMessage()) + "; start them, then the job", cause));
      }
    });
    return started.future();
  }

  private void awaitRoom(String why) {
    LOG.warn("{}: {}; it waits up to {} s for room at a heter worker", rank, why, search.patience().toSeconds());
    search.urge(() -> end(search.noRoom(rank + ": " + why)));
  }

  private void begin() {
    search.relax();
    home.begin();
    int ready = workers.ready().size();
    LOG.info("{}: its batches go to {}, one of {} heter worker{}", rank, home.name(), ready, ready == 1 ? "" : "s");
    started.complete();
  }

  /** Returns this rank's home, once it has one; fails if no worker can be reached. On the loop. */
  public Future<Directory.Instance> home() {
    return started.future().compose(v -> home.worker() != null ? Future.succeededFuture(home.worker().at)
        : Future.failedFuture(over != null ? over
            : new PeerLost(rank + ": no heter worker is left; start them, then the job")));
  }

  /** Connects with a worker that is new, or that was lost or full and may serve again. */
  private void connect(Directory.Instance at) {
    if (over == null) {
      workers.connect(at);
    }
  }

  private void ready(HeterWorker worker) {
    if (over != null) {
      return;
    }
    if (!started.future().isComplete()) {
      if (!starting) { // all were full
        begin();
      }
    } else if (started.future().succeeded()) {
      LOG.info("{}: {} has joined", rank, worker.name);
      if (home.worker() == null) { // it has been waited for
        search.relax();
        home.moveTo(worker);
      }
    }
    workers.answerOpens();
  }

  /** Uses a worker no more, or not for a while. */
  private void lost(HeterWorker worker, RegattaException why) {
    boolean wasHome = worker == home.worker();
    boolean isNews = !(why instanceof PeerLost) && search.refused(worker.at, why);
    if (over != null) {
      return;
    }
    if (wasHome) {
      home.leave(why);
      workers.answerOpens();
    } else if (isNews && started.future().isComplete()) {
      LOG.warn("{}: {} is not used: {}", rank, worker.name, why.getMessage());
    } else {
      LOG.debug("{}: {} is not used: {}", rank, worker.name, why.getMessage());
    }
  }

  @Override
  public CompletionStage<CutOpened> open(CutOpen open) {
    return calls.run(LoopCalls.Kind.OPEN, answer -> started.future().onComplete(start -> {
      if (over != null || start.failed()) {
        answer.completeExceptionally(over != null ? over : start.cause());
      } else {
        workers.open(open, answer);
      }
    }));
  }

  @Override
  public CompletionStage<ComputedBatch> compute(BatchToCompute batch) {
    return calls.run(LoopCalls.Kind.COMPUTE, result -> {
      if (over != null) {
        result.completeExceptionally(over);
        return;
      }
      boolean boundary = batches.isEmpty();
      batches.add(batch, result);
      if (boundary) {
        home.moveIfUneven();
      }
      home.send();
    });
  }

  @Override
  public String worker() {
    return home.name();
  }

  /** Returns true if this stage is one of {@link #open} or {@link #compute} that has not completed. Any thread. */
  public boolean isAwaited(CompletionStage<?> stage) {
    return calls.kind(stage).isPresent();
  }

  /** Returns the heter workers that a stage of {@link #open} or {@link #compute} waits for. Any thread. */
  public Future<List<Wait.Peer>> peers(CompletionStage<?> stage) {
    Promise<List<Wait.Peer>> peers = Promise.promise();
    try {
      loop.execute(() -> {
        List<String> names = calls.kind(stage).filter(LoopCalls.Kind.OPEN::equals).isPresent() ? workers.opening() : List.of();
        peers.complete((names.isEmpty() ? List.of(home.name()) : names).stream().map(Wait.Peer::named).toList());
      });
    } catch (RejectedExecutionException e) {
      peers.complete(List.of());
    }
    return peers.future();
  }

  /** Returns the counts of this rank. Any thread. */
  public HeterCounts counts() {
    return counts;
  }

  /** Returns the names of the part's variables; null before a replica has opened the cut. On the loop. */
  Set<String> part() {
    return workers.part();
  }

  /** Adds a link to a shard that has its state at the home. On the loop. */
  void add(HeterShardLink link) {
    state.add(link);
  }

  /** Notes that a shard has acknowledged a push. */
  void acknowledged(Push push) {
    state.acknowledged(push);
  }

  /** Notes that a link through a worker is of no use: that is lost, or was before the link was opened. */
  void lost(Directory.Instance at, Throwable why) {
    home.lost(at, why);
  }

  private void end(RegattaException why) {
    over = why;
    search.close();
    home.close();
    started.tryFail(why);
    batches.fail(why);
    workers.end(why);
    state.end(why);
  }

  /**
   * Ends all streams; pending calls fail. On the loop.
   *
   * @param succeeded true if this rank needs no heter worker any more, since its run has ended
   */
  public Future<Void> close(boolean succeeded) {
    Future<Void> closed = workers.close(succeeded);
    end(new Cancelled("the heter workers are not needed any more"));
    return closed;
  }
}
