package io.regatta.trainer;

import io.regatta.core.error.PeerText;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.progress.Progress;
import io.regatta.node.CancellableStart;
import io.regatta.node.FiniteService;
import io.regatta.node.Node;
import io.regatta.node.admin.Hosted;
import io.regatta.node.directory.Directory;
import io.regatta.node.process.Interrupt;
import io.regatta.training.TrainingProgram;
import io.regatta.training.config.GpuAssignment;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.TrainerConfig;
import io.regatta.training.result.ResultFile;
import io.regatta.training.result.RunRecord;
import io.regatta.training.result.RunResult;
import io.regatta.training.run.JobCheck;
import io.regatta.training.run.RankRun;
import io.regatta.training.snapshot.StartingPoint;
import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The verticle of one rank: it owns the {@link RankSeat}, with links to the shards or to the other ranks, and the
 * exchange in progress, on its event loop. The program runs on model threads of its own.
 *
 * <p>It has started when the rank has joined and the program runs; {@link #result} is the end of the run. Stopping it
 * releases the model threads, leaves the shards and the group in order, and does not wait for a running native call.
 */
public final class TrainerVerticle extends VerticleBase implements CancellableStart, FiniteService {

  private static final Logger LOG = LoggerFactory.getLogger(TrainerVerticle.class);

  private final Node node;
  private final TrainerConfig config;
  private final JobConfig job;
  private final TrainingProgram program;
  private final Progress progress;
  private final Promise<RunResult> result = Promise.promise();
  private final Promise<ShardFinder.Found> servers = Promise.promise();
  private ShardFinder finder;
  private Hosted.Service hosted;
  private RankSeat seat;
  private RankSession session;
  private RankRun run;
  private RankMeters meters;
  private ResultFile resultFile;
  private Future<Void> over;
  /** Why the rendezvous has removed this trainer, if it has. */
  private RegattaException lost;

  /** Creates a trainer that runs the job's program, loaded by class name. */
  public TrainerVerticle(Node node, TrainerConfig config) {
    this(node, config, null);
  }

  /** Creates a trainer that runs a program given in code, the same object on all replicas; null: the job's. */
  public TrainerVerticle(Node node, TrainerConfig config, TrainingProgram program) {
    this(node, config, program, null);
  }

  /** Creates a trainer that reports to {@code progress}; null: on the console. */
  public TrainerVerticle(Node node, TrainerConfig config, TrainingProgram program, Progress progress) {
    this.node = node;
    this.config = config;
    this.job = config.job();
    this.program = program;
    this.progress = progress;
  }

  /**
   * Returns a future that completes when the program has ended on this rank and the rank has left; it fails with the
   * error that ended it.
   */
  public Future<RunResult> result() {
    return result.future();
  }

  /**
   * Returns {@link #result}, which here also fails if the run has ended without some of its data and the job does not
   * accept that.
   */
  @Override
  public Future<?> finished() {
    return result.future().map(end -> {
      if (!end.isSuccess()) { // the failure is all that the process prints
        LOG.warn("{}", end);
      }
      return end.requireSuccess();
    });
  }

  @Override
  public Future<?> start() {
    hosted = node.starting(wanted());
    seat = new RankSeat(node, context, config, this::givenUp, this::placed);
    Duration timeout = node.config().readyTimeout();
    return resultFile()
        .compose(v -> vertx.executeBlocking(() -> {
          JobCheck.distributed(job, program);
          return null;
        }))
        .compose(v -> job.isOverStore() ? Future.<Directory.Instance>succeededFuture()
            : node.directory().awaitAny(Directory.RENDEZVOUS, timeout, wanted()).map(found -> found.get(0)))
        .compose(this::join)
        .compose(v -> logReplaced())
        .compose(v -> servers(timeout))
        .compose(this::admitted)
        .map(this::begin)
        .recover(e -> {
          if (run != null) { // a replica's thread could not be started: the others must not wait for it
            session.end(new Cancelled(name() + " could not start: " + e.getMessage()));
            run.interrupt();
          }
          hosted.failed(e);
          result.tryFail(e);
          return finish(false).transform(v -> Future.failedFuture(e));
        });
  }

  /**
   * Returns the job's servers when its other services are there, too; a trainer that is removed meanwhile no longer
   * waits.
   */
  private Future<ShardFinder.Found> servers(Duration timeout) {
    finder = new ShardFinder(node, job, timeout);
    finder.find(name()).compose(found -> seat.awaitAuxiliaries(name()).map(found)).onSuccess(servers::tryComplete)
        .onFailure(servers::tryFail);
    return servers.future();
  }

  /** Checks that the servers accept the job's snapshots; one that would refuse them refuses the job. */
  private Future<ShardFinder.Found> admitted(ShardFinder.Found found) {
    SnapshotAdmission admission = new SnapshotAdmission(node, found, job.job());
    return admission.of(StartingPoint.written(job), true)
        .compose(v -> admission.of(StartingPoint.read(job), false)).map(found);
  }

  /** @param rendezvous null if the job uses a store */
  private Future<Void> join(Directory.Instance rendezvous) {
    if (over != null) {
      return Future.failedFuture(RankSeat.stopped(wanted()));
    }
    String member = "trainer with pid " + ProcessHandle.current().pid() + " on " + node.host();
    return seat.join(rendezvous, wanted(), member).recover(this::notJoined);
  }

  private Future<Void> notJoined(Throwable e) {
    return Future.failedFuture(e instanceof Conflict ? refused(e) : e);
  }

  /**
   * Returns the refusal of a trainer. The rendezvous names groups and members; the user can change this trainer's
   * configuration.
   */
  private Conflict refused(Throwable why) {
    return new Conflict(wanted() + " cannot join: " + why.getMessage() + ". This trainer has job: " + job.job()
        + ", trainers: " + job.trainers() + (config.rank() < 0 ? "" : ", rank (--id) " + config.rank()));
  }

  private void givenUp(Throwable why) {
    StaleGeneration reason = new StaleGeneration(name() + " has been removed by the rendezvous, and the others continue without "
        + "it: " + why.getMessage());
    LOG.error(reason.getMessage());
    lost = reason;
    servers.tryFail(reason);
    if (session != null) {
      session.end(reason);
    }
  }

  private Void begin(ShardFinder.Found found) {
    if (lost != null) {
      throw lost;
    }
    if (over != null) {
      throw RankSeat.stopped(wanted());
    }
    session = seat.session(found);
    LOG.info("{}: joined, {}", name(), PeerText.message(seat.joined()));
    run = new RankRun(session, program, progress, resultFile, new GpuAssignment(config.gpus()));
    meters = new RankMeters(node.metrics(), job.job(), seat.rank(), seat::step, run.steps(), run::badLines,
        run.snapshots(), session.counters());
    hosted.serves();
    Future.fromCompletionStage(run.start(), context)
        .onFailure(e -> hosted.lacks(String.valueOf(e.getMessage())))
        .onFailure(e -> session.end(new Cancelled(name() + " has failed in another replica: " + e.getMessage())))
        .onComplete(end -> recorded(end).transform(v -> finish(hasSucceeded(end))).onComplete(v -> {
          if (end.succeeded()) {
            result.tryComplete(end.result());
          } else {
            result.tryFail(end.cause());
          }
        }));
    return null;
  }

  /**
   * Returns true if the run has ended with success. A run that has not trained all of its data, and does not accept
   * that, may be completed by another start.
   */
  private static boolean hasSucceeded(AsyncResult<RunResult> end) {
    return end.succeeded() && end.result().isSuccess();
  }

  /** Records beside the model the run that has written it, once the run has ended with success; on the lowest rank. */
  private Future<Void> recorded(AsyncResult<RunResult> end) {
    if (!hasSucceeded(end) || job.output().isBlank() || !session.group().isLowest()) {
      return Future.succeededFuture();
    }
    return vertx.executeBlocking(() -> {
      new RunRecord(job.job(), job.runId(), Instant.ofEpochMilli(node.clock().epochMillis()).truncatedTo(ChronoUnit.SECONDS)).write(job.output());
      return null;
    });
  }

  /**
   * Logs that an earlier run's model will be replaced, unless this run resumes; before the program runs, because it may
   * write at any time.
   */
  private Future<Void> logReplaced() {
    if (job.output().isBlank() || !job.resume().isEmpty() || seat.rank() != 0) {
      return Future.succeededFuture();
    }
    return vertx.executeBlocking(() -> {
      RunRecord.in(job.output()).filter(before -> job.runId().isEmpty() || !before.runId().equals(job.runId()))
          .ifPresent(before -> LOG.info("{}: {}", name(), before.replacedBy(job.output())));
      return null;
    });
  }

  private void placed() {
    if (meters != null && over == null) {
      meters.placed(seat.rank());
    }
  }

  /** Leaves; only the first call has an effect. */
  private Future<Void> finish(boolean succeeded) {
    if (over == null) {
      if (meters != null) {
        meters.remove();
      }
      if (finder != null) {
        finder.giveUp(RankSeat.stopped(name()));
      }
      over = seat.leave(succeeded);
    }
    return over;
  }

  /**
   * Checks, before anything runs for hours, that the result can be written here: every rank may be the lowest at the
   * end.
   */
  private Future<Void> resultFile() {
    if (config.result().isBlank()) {
      return Future.succeededFuture();
    }
    return vertx.executeBlocking(() -> ResultFile.at(Path.of(config.result())))
        .onSuccess(file -> resultFile = file).mapEmpty();
  }

  /**
   * Cancels a start: the others must not wait until the lease of a trainer ends that was stopped while it waited for
   * them.
   */
  @Override
  public Future<?> cancelStart() {
    return stop();
  }

  @Override
  public Future<?> stop() {
    hosted.stopped();
    Cancelled reason = new Cancelled("job " + job.job() + " was stopped before its end");
    if (run == null) {
      result.tryFail(reason);
      return finish(false);
    }
    return finishedSave().transform(v -> stopNow(reason));
  }

  /**
   * Waits, for {@code stop_grace_seconds} at most, until a model that is being saved, or is trained and still to be
   * saved, is complete. Ranks that are still training do not wait, and leave at once.
   */
  private Future<Void> finishedSave() {
    if (run.modelSaved().isDone() || lost != null || job.stopGraceSeconds() == 0) {
      return Future.succeededFuture();
    }
    LOG.info("{} is asked to stop when its training is over: it ends its run first, so that the model is saved, within {} s", name(),
        job.stopGraceSeconds());
    Future<Void> saved = Future.fromCompletionStage(run.modelSaved(), context)
        .timeout(job.stopGraceSeconds(), TimeUnit.SECONDS).otherwiseEmpty();
    Interrupt.awaits(saved.map(v -> modelAtStop()));
    return saved;
  }

  /** Returns the last line of a stopped process on the model; empty if there is none to be saved. */
  private String modelAtStop() {
    String model = run.model();
    if (run.modelSaved().isDone()) {
      return model.isEmpty() ? "" : "the model is whole, in " + model;
    }
    return "no model could be saved within " + job.stopGraceSeconds() + " s"
        + (model.isEmpty() ? "" : "; the last whole model is in " + model);
  }

  private Future<Void> stopNow(Cancelled reason) {
    boolean running = !run.result().isDone();
    session.end(reason);
    if (running) {
      run.interrupt();
    }
    return RankSeat.soon(Future.fromCompletionStage(run.ended(), context))
        .compose(v -> finish(!running && !run.result().isCompletedExceptionally() && run.result().join().isSuccess()))
        .onComplete(v -> result.tryFail(reason));
  }

  /** Returns the name of this trainer in messages; its first generation may end before it has a rank. */
  private String name() {
    return seat.hasRank() ? "trainer " + seat.rank() + " of job " + job.job() : wanted();
  }

  /** Returns its name in messages before it has joined. */
  private String wanted() {
    return "trainer " + (config.rank() < 0 ? "(any rank)" : config.rank()) + " of job " + job.job();
  }
}
