package io.regatta.parameterserver;

import io.regatta.core.error.PeerText;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.PushMark;
import io.regatta.core.exchange.ResumePoint;
import io.regatta.core.exchange.Wait;
import io.regatta.core.file.ConfinedDirectory;
import io.regatta.core.loop.Stopwatch;
import io.regatta.core.loop.Timer;
import io.regatta.core.shard.JobRestore;
import io.regatta.core.shard.JobSnapshot;
import io.regatta.core.shard.ParameterShard;
import io.regatta.core.table.TableSnapshot;
import io.regatta.protocol.connection.PeerLog;
import io.regatta.protocol.message.ProgressMessages;
import io.regatta.protocol.parameterserver.HoldReply;
import io.regatta.protocol.parameterserver.RestoreRequest;
import io.regatta.protocol.parameterserver.SaveRequest;
import io.regatta.protocol.vertx.VertxLoop;
import io.regatta.snapshot.FileEntry;
import io.regatta.snapshot.ShardRestorer;
import io.regatta.snapshot.ShardSaver;
import io.regatta.snapshot.SnapshotKind;
import io.regatta.snapshot.WritablePlace;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The writer and reader of the files of one shard's jobs, on a worker thread of its own, one file at a time. Belongs to
 * the shard's event loop, on which everything else happens. A job's moment is taken at once; its file waits for those
 * of other jobs, as {@link #waits} shows. The worker asks the loop for a slice, writes it, and asks for the next. The
 * loop works for a tenth of a millisecond at a time, so a slow disk delays only the snapshots on this shard. A failure
 * ends only its own snapshot.
 */
final class SnapshotWriter {

  private static final Logger LOG = LoggerFactory.getLogger(SnapshotWriter.class);
  private static final PeerLog SNAPSHOTS = PeerLog.ofEvents(LOG);
  private static final PeerLog FAILURES = PeerLog.ofEvents(LOG);
  private static final long LONGEST_DAYS = 7;
  private static final long LOOK_MILLIS = 500;
  /** Longest time that pushes wait for the moment of a snapshot. */
  private static final long HOLD_MILLIS = 5_000;

  /** Longest name of a directory, that of Linux. */
  private static final int NAME_CHARACTERS_MAX = 4096;

  /** Pushes of a job that wait for the snapshot in a directory, by the name that its requests have. */
  private record Hold(String job, String directory) {
    Hold {
      if (directory.length() > NAME_CHARACTERS_MAX) {
        throw new InvalidInput("directory '" + PeerText.of(directory) + "' has more than " + NAME_CHARACTERS_MAX
            + " characters: name a shorter one");
      }
    }
  }

  private final VertxLoop loop;
  private final ParameterShard shard;
  private final long keptMax;
  private final SnapshotRoots roots;
  private final long holdMillis;
  private final WorkerExecutor worker;
  /** File of each job's last snapshot, or the reason for which there is none. */
  private final Map<String, Future<FileEntry>> files = new HashMap<>();
  /** Snapshot that each job has begun with, or is to. */
  private final Map<String, Restoring> restored = new HashMap<>();
  /** Timers that end holds. */
  private final Map<Hold, Timer> holds = new HashMap<>();
  /** Files of the worker, the first of them under way. */
  private final List<Queued> queue = new ArrayList<>();
  /** Written on the loop, read by the worker. */
  private volatile boolean closed;

  /**
   * Creates a writer without files.
   *
   * @param keptMax see {@link ParameterShard#snapshot}
   * @param roots of the directories that requests may name
   */
  SnapshotWriter(Vertx vertx, VertxLoop loop, ParameterShard shard, long keptMax, SnapshotRoots roots) {
    this(vertx, loop, shard, keptMax, roots, HOLD_MILLIS);
  }

  /** @param holdMillis longest time that pushes wait for the moment of a snapshot */
  SnapshotWriter(Vertx vertx, VertxLoop loop, ParameterShard shard, long keptMax, SnapshotRoots roots, long holdMillis) {
    this.roots = roots;
    this.holdMillis = holdMillis;
    this.loop = loop;
    this.shard = shard;
    this.keptMax = keptMax;
    worker = vertx.createSharedWorkerExecutor("regatta-snapshot-" + shard.index(), 1, LONGEST_DAYS, TimeUnit.DAYS);
  }

  /** Completes when no push of the job is under way; new ones wait from now on, for a limited time. */
  Future<HoldReply> hold(String job, String directory) {
    Hold hold = new Hold(job, directory);
    Future<HoldReply> quiet = Future.fromCompletionStage(shard.hold(job, hold.directory)).map(marks -> {
      HoldReply.Builder reply = HoldReply.newBuilder();
      marks.forEach(m -> reply.addLastBuilder().setRank(m.rank()).setIncarnation(m.incarnation()).setSequence(m.sequence()));
      return reply.build();
    });
    if (quiet.failed()) {
      return quiet;
    }
    cancel(hold);
    holds.put(hold, loop.after(holdMillis, () -> {
      holds.remove(hold);
      if (shard.endHold(job, hold.directory)) {
        FAILURES.warn("pushes of job {} on shard {} that a snapshot waits for have not come within {} ms; the job "
            + "continues, "
            + "and the snapshot in {} may contain a push at some shards only", job, shard.index(), holdMillis,
            PeerText.of(hold.directory));
      }
    }));
    return quiet;
  }

  private void cancel(Hold hold) {
    Timer timer = holds.remove(hold);
    if (timer != null) {
      timer.cancel();
    }
  }

  /** Completes when the moment has been taken; the file is written meanwhile. */
  Future<Void> save(SaveRequest request) {
    ParameterShard.checkName(request.getJob());
    Hold hold = new Hold(request.getJob(), request.getDirectory());
    Future<Target> found = directory(request.getDirectory(), true)
        .map(dir -> new Target(dir, scope(request.getKind())));
    return found.onFailure(e -> {
      cancel(hold);
      shard.endHold(hold.job, hold.directory);
    }).compose(target -> taken(hold, request, target.scope).map(snapshot -> {
      files.put(request.getJob(), write(snapshot, target.directory));
      return (Void) null;
    }));
  }

  /** The directory of a snapshot, and its scope. */
  private record Target(ConfinedDirectory directory, TableSnapshot.Scope scope) {}

  /**
   * Completes when the moment has been taken. A refused request has ended its hold, unless the same was requested
   * before.
   */
  private Future<JobSnapshot> taken(Hold hold, SaveRequest request, TableSnapshot.Scope scope) {
    List<PushMark> upTo = request.getUpToList().stream()
        .map(m -> new PushMark(m.getRank(), m.getIncarnation(), m.getSequence())).toList();
    return Future.fromCompletionStage(shard.snapshot(hold.job, hold.directory, request.getStep(), upTo, scope, keptMax))
        .onSuccess(snapshot -> cancel(hold));
  }

  private static TableSnapshot.Scope scope(String kind) {
    return switch (SnapshotKind.of(kind)) {
      case FULL, BATCH -> TableSnapshot.Scope.ALL;
      case BASE -> TableSnapshot.Scope.BASE;
      case DELTA -> TableSnapshot.Scope.DELTA;
      case MODEL -> throw new InvalidInput("a model is saved by the trainers; shards save full, base, delta or batch");
    };
  }

  private Future<FileEntry> write(JobSnapshot snapshot, ConfinedDirectory dir) {
    String what = "the snapshot of job " + snapshot.spec().job() + " on shard " + shard.index();
    Stopwatch begun = Stopwatch.start(loop.clock());
    return inTurn(what, () -> ShardSaver.save(snapshot, dir, this::ask))
        .onSuccess(file -> SNAPSHOTS.info("{}: {} bytes in {} ms, {}", what, file.bytes(),
            begun.millis(), dir.pathOf(file.file())))
        .recover(e -> Future.failedFuture(explained(what + " could not be written to " + dir, e)))
        .onFailure(e -> FAILURES.warn("{}; the job continues", e.getMessage()));
  }

  /** A file that is being written or read, or waits. */
  private record Queued(String what, long sinceMillis) {}

  /** Runs on the worker, after the files that wait already. */
  <T> Future<T> inTurn(String what, Callable<T> file) {
    Queued queued = new Queued(what, loop.clock().epochMillis());
    queue.add(queued);
    Future<T> done;
    try {
      done = worker.executeBlocking(file, true);
    } catch (IllegalStateException closed) {
      done = Future.failedFuture(new Cancelled(what + " was not begun: shard " + shard.index() + " is being stopped"));
    }
    return done.onComplete(end -> queue.remove(queued));
  }

  /** Returns the files that wait, with the one that each waits for, for {@code /why}. */
  List<Wait> waits() {
    return queue.isEmpty() ? List.of() : queue.stream().skip(1).map(waiting -> new Wait(waiting.what, "file by file",
        "shard " + shard.index(), waiting.sinceMillis, List.of(Wait.Peer.named(queue.get(0).what)))).toList();
  }

  /** Returns the file of the job's last snapshot, when it is written. */
  Future<FileEntry> saved(String job) {
    Future<FileEntry> file = files.get(job);
    return file != null ? file : Future.failedFuture(new InvalidInput("shard " + shard.index()
        + " has begun no snapshot of job '" + job + "' since the job began here"));
  }

  /** Forgets a job whose file will not be requested again. */
  void forget(String job) {
    holds.keySet().stream().filter(hold -> hold.job.equals(job)).toList().forEach(this::cancel);
    files.remove(job);
    restored.remove(job);
  }

  /** A request to restore, and its outcome. */
  private record Restoring(RestoreRequest request, Future<Boolean> dense) {}

  /**
   * Restores a job; completes when everything is in its place. A repeated request gets the same answer and changes
   * nothing: the successor of a lost trainer repeats its requests.
   */
  Future<Boolean> restore(RestoreRequest request) {
    Restoring known = restored.get(request.getJob());
    if (known != null && known.request.equals(request)) {
      return known.dense;
    }
    if (known != null) {
      throw new Conflict("job " + request.getJob() + " on shard " + shard.index() + " begins with "
          + known.request.getDirectory() + ", not with " + request.getDirectory()
          + "; all its trainers must see the same snapshots");
    }
    Promise<Boolean> dense = Promise.promise();
    Restoring begun = new Restoring(request, dense.future());
    restored.put(request.getJob(), begun); // before a refusal, which removes it again
    try {
      read(request, begun).onComplete(dense);
    } catch (RuntimeException e) {
      restored.remove(request.getJob(), begun);
      throw e;
    }
    return dense.future();
  }

  private Future<Boolean> read(RestoreRequest request, Restoring begun) {
    ParameterShard.checkName(request.getJob());
    ResumePoint at = ProgressMessages.at(request);
    JobRestore into = shard.restore(request.getJob());
    String what = "job " + request.getJob() + " on shard " + shard.index();
    Stopwatch reading = Stopwatch.start(loop.clock());
    return directory(request.getDirectory(), false)
        .onFailure(refused -> restored.remove(request.getJob(), begun)) // the job may still begin with another one
        .compose(dir -> inTurn("the reading of " + what,
            () -> ShardRestorer.restore(into, dir, request.getResume(), at, this::ask))
            .onSuccess(dense -> SNAPSHOTS.info("{} has been read from {} in {} ms", what, dir, reading.millis()))
            .recover(e -> Future.failedFuture(explained(what + " could not be read from " + dir, e))));
  }

  /**
   * Finds the directory that a request names. One to be written must exist; if one to be read is incomplete, its reader
   * reports it. Does not wait for another job's files. Each file is checked again when it is opened.
   */
  private Future<ConfinedDirectory> directory(String name, boolean write) {
    return loop.context().executeBlocking(() -> {
      ConfinedDirectory dir = roots.directory(name);
      boolean there = write ? dir.existsWithoutLinks() : dir.exists();
      if (write && !there) {
        throw new InvalidInput("shard " + shard.index() + " does not see the directory " + dir
            + " of the snapshot: snapshots.dir must be one that all servers and trainers share, under the same path");
      }
      return dir;
    }, false).recover(e -> Future.failedFuture(explained(PeerText.of(name) + " cannot be used", e)));
  }

  private static RegattaException explained(String what, Throwable e) {
    return e instanceof RegattaException ours ? ours
        : e instanceof IOException io ? new InvalidInput(what + ": " + WritablePlace.reason(io), e)
        : new InvalidInput(what + ": " + e, e);
  }

  /** Asks the loop from the worker, and waits for the answer. */
  private <T> T ask(Supplier<T> question) throws IOException {
    CompletableFuture<T> answer = new CompletableFuture<>();
    loop.execute(() -> {
      try {
        answer.complete(question.get());
      } catch (RuntimeException | Error e) {
        answer.completeExceptionally(e);
      }
    });
    while (true) {
      try {
        return answer.get(LOOK_MILLIS, TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        if (closed) { // the loop may not run any more
          throw new IOException("the shard is being stopped");
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException("the shard is being stopped");
      } catch (ExecutionException e) {
        if (e.getCause() instanceof RuntimeException cause) {
          throw cause;
        }
        throw new IllegalStateException(e.getCause());
      }
    }
  }

  /** Abandons files that are being written, and leaves nothing that resembles a snapshot. */
  Future<Void> close() {
    closed = true;
    return worker.close();
  }
}
