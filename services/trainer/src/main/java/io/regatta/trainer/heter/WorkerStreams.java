package io.regatta.trainer.heter;

import io.regatta.core.error.RegattaException;
import io.regatta.node.directory.Directory;
import io.regatta.protocol.error.ErrorMapping;
import io.regatta.protocol.heter.HeterLink;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.StreamPaths;
import io.regatta.protocol.stream.TensorStreams;
import io.regatta.protocol.tensor.CutOpen;
import io.regatta.protocol.tensor.CutOpened;
import io.regatta.protocol.tensor.CutTensor;
import io.regatta.protocol.tensor.CutTensor.Role;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

/**
 * A rank's streams to heter workers. A worker is ready once it has agreed to what crosses the cut, for all replicas of
 * the rank. Owned by the loop of {@link HeterWorkers}.
 */
final class WorkerStreams {

  /** The owner of the streams. */
  interface Owner {

    /** Returns the worker to which the rank sends its batches; empty if it has none. */
    Optional<HeterWorker> home();

    /** Notes that a worker may compute. */
    void ready(HeterWorker worker);

    /** Notes that a worker has answered: it has room for another request. */
    void hasRoom();

    /** Notes that a worker is lost, or refuses this rank; its stream has been closed. Called once. */
    void lost(HeterWorker worker, RegattaException why);
  }

  private final TensorStreams streams;
  private final StreamOptions options;
  private final SendingRank rank;
  private final Owner owner;
  private final List<HeterWorker> workers = new ArrayList<>();
  /** Descriptions of the cut, by replica. */
  private final Map<Integer, CutOpen> opens = new TreeMap<>();
  /** Names of the part's variables; null before a replica has opened the cut. */
  private Set<String> part;
  /** Replicas that wait for any worker's answer to their open. */
  private final List<CompletableFuture<CutOpened>> unanswered = new ArrayList<>();
  /** Why no open is answered any more; null: they are. */
  private RegattaException over;

  /** @param streams of the loop */
  WorkerStreams(TensorStreams streams, StreamOptions options, SendingRank rank, Owner owner) {
    this.streams = streams;
    this.options = options;
    this.rank = rank;
    this.owner = owner;
  }

  /**
   * Opens a stream to a worker, unless there is one, and agrees with it on what crosses the cut as far as that is known.
   *
   * @return completes when the worker is ready
   */
  Future<Void> connect(Directory.Instance at) {
    if (workers.stream().anyMatch(known -> known.at.endpoint().equals(at.endpoint()))) {
      return Future.succeededFuture();
    }
    HeterWorker worker = new HeterWorker(at);
    workers.add(worker);
    return streams.open(at.host(), at.controlPort(), StreamPaths.HETER_COMPUTE).compose(stream -> {
      worker.link = new HeterLink(stream, worker.name, rank.job(), rank.trainer().get(), rank.generation(), options)
          .onLoad(load -> worker.load = load)
          .onLost(why -> lost(worker, why));
      if (worker.gone) {
        worker.link.close(false);
      }
      return agree(worker);
    }).onSuccess(v -> {
      if (!worker.gone) {
        worker.ready = true;
        owner.ready(worker);
      }
    }).onFailure(why -> lost(worker, ErrorMapping.regatta(why)));
  }

  /** Opens the cuts that a worker has not agreed to, until there are none: replicas come while it builds its part. */
  private Future<Void> agree(HeterWorker worker) {
    List<CutOpen> rest = opens.values().stream().filter(open -> !worker.agreed.contains(open.getReplica())).toList();
    return rest.isEmpty() ? Future.succeededFuture()
        : Future.all(rest.stream().map(open -> open(worker, open)).toList()).compose(v -> agree(worker));
  }

  /** Returns the names of the part's variables; null before a replica has opened the cut. */
  Set<String> part() {
    return part;
  }

  /** Opens a replica's cut at a worker, and says whether that is the home. */
  Future<CutOpened> open(HeterWorker worker, CutOpen open) {
    return open(worker, open, owner.home().filter(home -> home == worker).isPresent());
  }

  private Future<CutOpened> open(HeterWorker worker, CutOpen open, boolean home) {
    worker.opening++;
    return Future.fromCompletionStage(worker.link.open(open.toBuilder().setHome(home).build()))
        .onComplete(answered -> worker.opening--)
        .onSuccess(opened -> {
          worker.opened = opened;
          worker.agreed.add(open.getReplica());
          owner.hasRoom();
        });
  }

  /** Asks a worker to count this rank as one whose home it is; completes with its answer. */
  Future<CutOpened> reserve(HeterWorker worker) {
    return open(worker, opens.values().iterator().next(), true);
  }

  /** Says to a worker whether it is the home. */
  void announce(HeterWorker worker) {
    opens.values().stream().findFirst().ifPresent(open -> open(worker, open));
  }

  /**
   * Opens a replica's cut at all workers that are ready. A worker that is lost or full meanwhile is left out.
   *
   * @param answer gets the answer of any worker once the rank has a home; fails if a worker refuses the cut
   */
  void open(CutOpen open, CompletableFuture<CutOpened> answer) {
    opens.put(open.getReplica(), open);
    part = open.getSignature().getTensorsList().stream().filter(tensor -> tensor.getRole() == Role.DENSE_VALUES)
        .map(CutTensor::getName).collect(Collectors.toUnmodifiableSet());
    Future.all(ready().stream().map(worker -> open(worker, open).recover(e ->
        HeterWorker.isTemporary(e) && !worker.link.isUsable() ? Future.succeededFuture() : Future.failedFuture(e)))
        .toList()).onComplete(all -> {
          if (over != null || all.failed()) {
            answer.completeExceptionally(over != null ? over : all.cause());
          } else {
            unanswered.add(answer);
            answerOpens();
          }
        });
  }

  /** Answers the opens of replicas, if the rank has a home, and a worker has agreed. */
  void answerOpens() {
    if (owner.home().isEmpty()) {
      return; // the next one answers
    }
    ready().stream().map(worker -> worker.opened).filter(Objects::nonNull).findFirst().ifPresent(opened -> {
      List<CompletableFuture<CutOpened>> waiting = List.copyOf(unanswered);
      unanswered.clear();
      waiting.forEach(answer -> answer.complete(opened));
    });
  }

  /** Returns the number of replicas that have described the cut. */
  int replicas() {
    return opens.size();
  }

  /** Returns the workers that may compute, by index. */
  List<HeterWorker> ready() {
    return workers.stream().filter(worker -> worker.ready).sorted(Comparator.comparingInt(HeterWorker::index)).toList();
  }

  /** Returns the names of the workers that have not answered an open. */
  List<String> opening() {
    return workers.stream().filter(worker -> worker.opening > 0).map(worker -> worker.name).toList();
  }

  /** Closes the stream to a worker that is lost or refuses this rank, and notifies the owner. */
  void lost(HeterWorker worker, RegattaException why) {
    if (worker.gone) {
      return;
    }
    workers.remove(worker);
    worker.gone = true;
    worker.ready = false;
    if (worker.link != null) {
      worker.link.close(false);
    }
    owner.lost(worker, why);
  }

  /** Fails the opens that wait for an answer, and later ones. */
  void end(RegattaException why) {
    over = why;
    unanswered.forEach(answer -> answer.completeExceptionally(why));
    unanswered.clear();
  }

  /** Ends all streams; see {@link HeterWorkers#close}. */
  Future<Void> close(boolean succeeded) {
    List<Future<Void>> closed = workers.stream().filter(worker -> worker.link != null)
        .map(worker -> Future.fromCompletionStage(worker.link.close(succeeded))).toList();
    workers.forEach(worker -> worker.gone = true);
    return Future.join(closed).otherwiseEmpty().mapEmpty();
  }
}
