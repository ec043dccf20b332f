package io.regatta.trainer.heter;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.loop.Loop;
import io.regatta.core.loop.Timer;
import io.regatta.node.directory.Directory;
import io.regatta.protocol.error.ErrorMapping;
import io.regatta.protocol.heter.BatchId;
import io.regatta.protocol.heter.BatchToCompute;
import io.regatta.protocol.heter.ComputedBatch;
import io.regatta.protocol.heter.HeterLink;
import io.regatta.protocol.heter.TensorData;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.StreamPaths;
import io.regatta.protocol.stream.TensorStreams;
import io.regatta.protocol.tensor.CutOpen;
import io.regatta.protocol.tensor.CutOpened;
import io.regatta.protocol.tensor.CutTensor;
import io.regatta.protocol.tensor.CutTensor.Role;
import io.regatta.training.heter.RemoteCompute;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A rank's computation of a part of its network at heter workers. It opens a stream to every worker; one of them, its
 * home, computes its batches. Its state is owned by one loop; the methods of {@link RemoteCompute} may be called on any
 * thread, and their stages complete on the loop.
 *
 * <p>The first home is the worker of index rank modulo workers. If a worker is lost, its unanswered batches are sent to
 * another one, in their order. If none is left, they wait for a worker that joins, and fail with {@link PeerLost} after
 * a while. When a worker joins, ranks move to it one after the other, as long as that makes the numbers more equal. The
 * highest rank of the worker that has most moves, at a time at which it has no batch under way.
 */
public final class HeterWorkers implements RemoteCompute {

  private static final Logger LOG = LoggerFactory.getLogger(HeterWorkers.class);
  private static final long LIST_MILLIS = 5000;
  /** Period of the search for workers while there is none. */
  private static final long SEARCH_MILLIS = 500;
  private static final String NONE = "a heter worker, of which none is left";
  private static final Comparator<HeterWorker> LEAST_FIRST =
      Comparator.comparingInt(HeterWorker::trainers).thenComparing(HeterWorker::index);

  /**
   * The rank that sends batches.
   *
   * @param trainer rank and incarnation, which stay; known at the start
   * @param generation of the group, sent with each request
   * @param lastStep that the trainer has made, for messages; -1 if none
   */
  public record Rank(String job, Supplier<TrainerId> trainer, LongSupplier generation, LongSupplier lastStep) {}

  /** A batch without a result. */
  private static final class Call {
    private final CompletableFuture<ComputedBatch> result;
    private final long sinceNanos;
    private BatchToCompute batch;
    /** Versions of the dense values at the home, if it has them. */
    private long[] versions;
    /** Null while no worker has it. */
    private HeterWorker worker;

    private Call(BatchToCompute batch, CompletableFuture<ComputedBatch> result, long sinceNanos) {
      this.batch = batch;
      this.result = result;
      this.sinceNanos = sinceNanos;
    }

    private void takeBack() {
      worker = null;
      batch = again(batch);
    }

    private static BatchToCompute again(BatchToCompute batch) {
      return new BatchToCompute(batch.id(), batch.head().toBuilder().setAgain(true).build(), batch.tensors());
    }
  }

  private final Loop loop;
  private final TensorStreams streams;
  private final StreamOptions options;
  private final Supplier<Future<List<Directory.Instance>>> directory;
  private final Duration patience;
  private final boolean stays;
  private final Rank rank;
  private final HeterCounts counts = new HeterCounts();
  private final TransferShare transfer = new TransferShare();
  private final HomeState state = new HomeState();
  /** Results that model threads wait for. Any thread. */
  private final Set<CompletionStage<?>> awaited = ConcurrentHashMap.newKeySet();

  // Used on the loop only, except for the volatile one.
  private final List<HeterWorker> workers = new ArrayList<>();
  /** Descriptions of the cut, by replica. */
  private final Map<Integer, CutOpen> opens = new TreeMap<>();
  /** Replicas that wait for any worker's answer to their open. */
  private final List<CompletableFuture<CutOpened>> opening = new ArrayList<>();
  private final Map<BatchId, Call> unanswered = new LinkedHashMap<>();
  /** Endpoints of workers that have refused this trainer. */
  private final Set<String> refused = new HashSet<>();
  private Future<Void> started = Future.succeededFuture();
  /** Null before the start, and while no worker is left. */
  private HeterWorker home;
  private TrainerId trainer;
  private boolean moving;
  private Timer listing = Timer.NONE;
  private Timer deadline = Timer.NONE;
  private RegattaException over;
  private volatile String homeName = NONE;
  /** Names of the part's variables; null before a replica has opened the cut. */
  private volatile Set<String> part;

  /**
   * Creates the rank's side; opens nothing yet.
   *
   * @param streams of the loop
   * @param directory lists the heter workers that are registered
   * @param patience how long batches wait for a worker when none is left
   * @param stays true if the home has dense values and gradients of this rank, which moves only when the home is lost
   */
  public HeterWorkers(Loop loop, TensorStreams streams, StreamOptions options,
      Supplier<Future<List<Directory.Instance>>> directory, Duration patience, boolean stays, Rank rank) {
    this.loop = loop;
    this.streams = streams;
    this.options = options;
    this.directory = directory;
    this.patience = patience;
    this.stays = stays;
    this.rank = rank;
  }

  /**
   * Opens streams to these workers, and looks for others from now on. On the loop.
   *
   * @return completes when every stream is open or has failed; fails if no worker can be reached
   */
  public Future<Void> start(List<Directory.Instance> first) {
    trainer = rank.trainer.get();
    list(LIST_MILLIS);
    Promise<Void> start = Promise.promise();
    started = start.future();
    Future.join(first.stream().map(this::connect).toList()).onComplete(done -> {
      List<HeterWorker> ready = ready();
      if (ready.isEmpty()) {
        Throwable cause = done.cause();
        start.fail(cause != null && !(cause instanceof PeerLost) ? cause : new PeerLost(name()
            + ": no heter worker can be reached"
            + (cause == null ? "" : ": " + cause.getMessage()) + "; start them, then the job", cause));
        return;
      }
      home(ready.get(trainer.rank() % ready.size()));
      LOG.info("{}: its batches go to {}, one of {} heter worker{}", name(), home.name, ready.size(),
          ready.size() == 1 ? "" : "s");
      start.complete();
    });
    return started;
  }

  /** Returns this rank's home, once it has one; fails if no worker can be reached. On the loop. */
  public Future<Directory.Instance> home() {
    return started.compose(v -> home != null ? Future.succeededFuture(home.at) : Future.failedFuture(
        over != null ? over : new PeerLost(name() + ": no heter worker is left; start them, then the job")));
  }

  private String name() {
    return "trainer " + trainer.rank() + " of job " + rank.job;
  }

  /** Returns the workers that may compute, by index. */
  private List<HeterWorker> ready() {
    return workers.stream().filter(worker -> worker.ready).sorted(Comparator.comparingInt(HeterWorker::index)).toList();
  }

  private void home(HeterWorker worker) {
    home = worker;
    homeName = worker == null ? NONE : worker.name;
  }

  /** Opens a stream to a worker, and agrees with it on what crosses the cut as far as that is known. */
  private Future<Void> connect(Directory.Instance at) {
    HeterWorker worker = new HeterWorker(at);
    workers.add(worker);
    return streams.open(at.host(), at.controlPort(), StreamPaths.HETER_COMPUTE).compose(stream -> {
      worker.link = new HeterLink(stream, worker.name, rank.job, trainer, rank.generation, options)
          .onLoad(load -> worker.load = load)
          .onLost(why -> lost(worker, why));
      if (worker.gone) {
        worker.link.close(false);
      }
      return agree(worker);
    }).onSuccess(v -> isReady(worker)).onFailure(why -> lost(worker, ErrorMapping.regatta(why)));
  }

  /** Opens the cuts that a worker has not agreed to, until there are none: replicas come while it builds its part. */
  private Future<Void> agree(HeterWorker worker) {
    List<CutOpen> rest = opens.values().stream().filter(open -> !worker.agreed.contains(open.getReplica())).toList();
    return rest.isEmpty() ? Future.succeededFuture()
        : Future.all(rest.stream().map(open -> openAt(worker, open)).toList()).compose(v -> agree(worker));
  }

  private Future<CutOpened> openAt(HeterWorker worker, CutOpen open) {
    return Future.fromCompletionStage(worker.link.open(open.toBuilder().setHome(worker == home).build()))
        .onSuccess(opened -> {
          worker.opened = opened;
          worker.agreed.add(open.getReplica());
        });
  }

  private void isReady(HeterWorker worker) {
    if (worker.gone) {
      return;
    }
    worker.ready = true;
    if (started.succeeded()) {
      LOG.info("{}: {} has joined", name(), worker.name);
      if (home == null) { // it has been waited for
        deadline.cancel();
        list(LIST_MILLIS);
        moveTo(worker);
      }
    }
    completeOpening(worker);
  }

  private void completeOpening(HeterWorker worker) {
    if (worker.opened != null) {
      opening.forEach(answer -> answer.complete(worker.opened));
      opening.clear();
    }
  }

  /** Lists the directory periodically from now on. */
  private void list(long millis) {
    listing.cancel();
    listing = loop.every(millis, () -> directory.get().onSuccess(this::listed)
        .onFailure(e -> LOG.debug("{}: the directory does not list heter workers: {}", name(), e.getMessage())));
  }

  /** Connects with the workers that are new, or that were lost and may be back. */
  private void listed(List<Directory.Instance> listed) {
    for (Directory.Instance at : Directory.latestFirst(listed)) {
      if (over == null && !refused.contains(at.endpoint()) && workers.stream().noneMatch(known -> known.at.endpoint()
          .equals(at.endpoint()))) {
        connect(at);
      }
    }
  }

  @Override
  public CompletionStage<CutOpened> open(CutOpen open) {
    return onLoop(answer -> {
      started.onComplete(start -> {
        if (over != null || start.failed()) {
          answer.completeExceptionally(over != null ? over : start.cause());
        } else {
          openAll(open, answer);
        }
      });
    });
  }

  /** Opens a replica's cut at all workers. One that refuses it is an error, one that is lost meanwhile is not. */
  private void openAll(CutOpen open, CompletableFuture<CutOpened> answer) {
    opens.put(open.getReplica(), open);
    part = open.getSignature().getTensorsList().stream().filter(tensor -> tensor.getRole() == Role.DENSE_VALUES)
        .map(CutTensor::getName).collect(Collectors.toUnmodifiableSet());
    List<Future<CutOpened>> opened = ready().stream().map(worker -> openAt(worker, open).recover(
        e -> e instanceof PeerLost ? Future.succeededFuture() : Future.failedFuture(e))).toList();
    Future.all(opened).onComplete(all -> {
      if (all.failed()) {
        answer.completeExceptionally(all.cause());
        return;
      }
      opening.add(answer);
      if (home != null) {
        completeOpening(home);
      }
    });
  }

  @Override
  public CompletionStage<ComputedBatch> compute(BatchToCompute batch) {
    return onLoop(result -> {
      if (over != null) {
        result.completeExceptionally(over);
        return;
      }
      boolean boundary = unanswered.isEmpty();
      unanswered.put(batch.id(), new Call(batch, result, loop.clock().nanos()));
      if (boundary && !moving) {
        moveIfUneven();
      }
      send();
    });
  }

  @Override
  public String worker() {
    return homeName;
  }

  /** Returns true if this stage is one of {@link #open} or {@link #compute} that has not completed. Any thread. */
  public boolean isAwaited(CompletionStage<?> stage) {
    return awaited.contains(stage);
  }

  /** Returns the counts of this rank. Any thread. */
  public HeterCounts counts() {
    return counts;
  }

  private <T> CompletionStage<T> onLoop(Consumer<CompletableFuture<T>> call) {
    CompletableFuture<T> outcome = new CompletableFuture<>();
    awaited.add(outcome);
    outcome.whenComplete((value, error) -> awaited.remove(outcome));
    try {
      loop.execute(() -> {
        try {
          call.accept(outcome);
        } catch (RuntimeException | Error e) { // whatever it is: a model thread waits
          outcome.completeExceptionally(e);
        }
      });
    } catch (RejectedExecutionException e) {
      outcome.completeExceptionally(new Cancelled("this trainer is stopped"));
    }
    return outcome;
  }

  /** Sends all batches that no worker has to the home, if there is one now. */
  private void send() {
    if (home == null || moving) {
      return;
    }
    List.copyOf(unanswered.values()).stream().filter(call -> call.worker == null).forEach(this::send);
  }

  private void send(Call call) {
    HeterWorker to = home;
    if (to == null || !unanswered.containsKey(call.batch.id())) { // lost meanwhile
      return;
    }
    call.worker = to;
    call.versions = state.versions();
    counts.bytesOut.add(bytes(call.batch.tensors()));
    to.link.compute(call.batch).whenComplete((result, error) -> {
      if (call.worker != to) { // another one has it
        return;
      }
      if (error == null) {
        answered(call, result);
        return;
      }
      RegattaException why = ErrorMapping.regatta(error);
      if (why instanceof PeerLost) {
        lost(to, why);
      } else {
        unanswered.remove(call.batch.id());
        call.result.completeExceptionally(why);
      }
    });
  }

  private void answered(Call call, ComputedBatch result) {
    unanswered.remove(call.batch.id());
    if (stays) {
      state.computed(call.batch, call.versions);
    }
    counts.batches.increment();
    long back = bytes(result.tensors());
    long now = loop.clock().nanos();
    counts.bytesIn.add(back);
    counts.waitNanos.add(now - call.sinceNanos);
    transfer.answered(opens.size(), call.sinceNanos, now, call.batch.head().getExamples(), bytes(call.batch.tensors()),
        result, back)
        .ifPresent(advice -> LOG.info("{}: {}", name(), advice));
    call.result.complete(result);
  }

  private static long bytes(List<TensorData> tensors) {
    return tensors.stream().mapToLong(data -> data.bytes().remaining()).sum();
  }

  private void drop(HeterWorker worker) {
    workers.remove(worker);
    worker.gone = true;
    worker.ready = false;
    if (worker.link != null) {
      worker.link.close(false);
    }
    if (worker == home) {
      home(null);
    }
  }

  /** Uses a worker no more; its batches go to another one. */
  private void lost(HeterWorker worker, RegattaException why) {
    if (worker.gone || over != null) {
      return;
    }
    boolean wasReady = worker.ready;
    List<Call> given = why instanceof PeerLost
        ? unanswered.values().stream().filter(call -> call.worker == worker).toList() : List.of();
    given.forEach(Call::takeBack);
    drop(worker);
    boolean wasHome = home == null && wasReady && started.succeeded();
    if (why instanceof PeerLost && !wasHome) {
      LOG.debug("{}: {} is not used: {}", name(), worker.name, why.getMessage());
      return;
    }
    if (!(why instanceof PeerLost)) { // it refuses this trainer, whatever is sent
      refused.add(worker.at.endpoint());
      if (wasHome) {
        end(why);
      } else {
        LOG.warn("{}: {} is not used: {}", name(), worker.name, why.getMessage());
      }
      return;
    }
    counts.again.add(given.size());
    List<HeterWorker> left = ready().stream().sorted(LEAST_FIRST).toList();
    long step = rank.lastStep.getAsLong();
    String batches = given.size() + (given.size() == 1 ? " batch" : " batches");
    String lost = name() + (step < 0 ? "" : " at step " + step) + ": " + why.getMessage();
    if (left.isEmpty()) {
      LOG.warn("{}; {} wait{} up to {} s for another heter worker, since none is left", lost, batches,
          given.size() == 1 ? "s" : "", patience.toSeconds());
      search(lost);
    } else { // ranks of one home spread over the others
      HeterWorker next = left.get(trainer.rank() / (left.size() + 1) % left.size());
      LOG.warn("{}; {} go{} to heter worker {}", lost, batches, given.size() == 1 ? "es" : "", next.index());
      moveTo(next);
    }
  }

  private void moveTo(HeterWorker next) {
    home(next);
    completeOpening(next); // of replicas whose open was under way to the lost one
    opens.values().stream().findFirst().ifPresent(open -> openAt(next, open));
    if (stays) {
      bringState(next);
    } else {
      send();
    }
  }

  /** Sends batches to a new home once that has the state of this rank. */
  private void bringState(HeterWorker to) {
    moving = true;
    state.moveTo(to.at, batch -> {
      counts.again.increment();
      return Future.fromCompletionStage(to.link.compute(Call.again(batch)));
    }).onComplete(moved -> {
      if (home != to || over != null) { // it is lost, too
        return;
      }
      if (moved.succeeded()) {
        moving = false;
        if (state.isAt(to.at)) {
          send();
        } else { // a link was opened to the former home meanwhile
          bringState(to);
        }
        return;
      }
      RegattaException why = ErrorMapping.regatta(moved.cause());
      if (why instanceof PeerLost && !state.isBeyondRepair()) {
        lost(to, why);
      } else {
        end(why);
      }
    });
  }

  /** Returns the names of the part's variables; null before a replica has opened the cut. */
  Set<String> part() {
    return part;
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
    if (home != null && home.at.equals(at)) {
      lost(home, ErrorMapping.regatta(why));
    } else if (home != null && !moving) {
      bringState(home);
    }
  }

  /** Waits for a worker that joins, for a limited time. */
  private void search(String lost) {
    list(SEARCH_MILLIS);
    deadline = loop.after(patience.toMillis(), () -> end(new PeerLost(lost + "; no other heter worker was there within "
        + patience.toSeconds() + " s; start a heter worker again, then the job")));
  }

  /**
   * Moves to the worker that has the fewest trainers, if that makes the numbers more equal. Only one rank of each
   * worker
   * may: the highest. The target counts this rank before it answers, so its number is the true one.
   */
  private void moveIfUneven() {
    HeterWorker from = home;
    HeterWorker to = ready().stream().min(LEAST_FIRST).orElse(from);
    if (stays || from == null || opens.isEmpty() || from.load.getHighestRank() != trainer.rank()
        || from.trainers() < to.trainers() + 2) {
      return;
    }
    CutOpen first = opens.values().iterator().next();
    moving = true;
    to.link.open(first.toBuilder().setHome(true).build()).whenComplete((opened, error) -> {
      moving = false;
      if (error == null && to.ready) { // to counts this rank, perhaps in vain: its home may have been lost meanwhile
        boolean better = home == from && to.trainers() < from.trainers();
        if (better) {
          home(to);
          LOG.info("{}: its batches go to {} from now on, which has fewer trainers than heter worker {}", name(),
              to.name,
              from.index());
        }
        openAt(better ? from : to, first);
      }
      send();
    });
  }

  private void end(RegattaException why) {
    over = why;
    listing.cancel();
    deadline.cancel();
    List<Call> given = List.copyOf(unanswered.values());
    unanswered.clear();
    given.forEach(call -> call.result.completeExceptionally(why));
    opening.forEach(answer -> answer.completeExceptionally(why));
    opening.clear();
    state.end(why);
  }

  /**
   * Ends all streams; pending calls fail. On the loop.
   *
   * @param succeeded true if this rank needs no heter worker any more, since its run has ended
   */
  public Future<Void> close(boolean succeeded) {
    List<Future<Void>> closed = workers.stream().filter(worker -> worker.link != null)
        .map(worker -> Future.fromCompletionStage(worker.link.close(succeeded))).toList();
    workers.forEach(worker -> worker.gone = true);
    end(new Cancelled("the heter workers are not needed any more"));
    return Future.join(closed).otherwiseEmpty().mapEmpty();
  }
}
