package io.regatta.trainer.service;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tags;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.node.CancellableStart;
import io.regatta.node.FiniteService;
import io.regatta.node.Node;
import io.regatta.node.admin.Hosted;
import io.regatta.node.directory.Directory;
import io.regatta.node.group.Membership;
import io.regatta.trainer.Progress;
import io.regatta.trainer.TrainingProgram;
import io.regatta.trainer.config.GpuAssignment;
import io.regatta.trainer.config.JobConfig;
import io.regatta.trainer.config.TrainerConfig;
import io.regatta.trainer.djl.RankSteps;
import io.regatta.trainer.result.ResultFile;
import io.regatta.trainer.result.RunResult;
import io.regatta.trainer.run.JobCheck;
import io.regatta.trainer.run.RankRun;
import io.regatta.trainer.snapshot.SnapshotCounts;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Owner of one rank: its seat in the group, its links to the shards and the exchange in flight, on its event loop. The
 * program runs on model threads of its own. Started when the rank has joined and the program runs; {@link #result} is
 * the end of the run. Stopping it releases the model threads, leaves the shards and the group in order, and does not
 * wait for a native call in flight.
 */
public final class TrainerVerticle extends VerticleBase implements CancellableStart, FiniteService {

  private static final Logger LOG = LoggerFactory.getLogger(TrainerVerticle.class);
  /** How long stopping waits for the model threads to find out, and for each farewell. */
  private static final long STOP_MILLIS = 1000;

  private final Node node;
  private final TrainerConfig config;
  private final JobConfig job;
  private final TrainingProgram program;
  private final Progress progress;
  private final Promise<RunResult> result = Promise.promise();
  private final Promise<ShardFinder.Found> servers = Promise.promise();
  private final List<Meter> meters = new ArrayList<>();
  private int measuredRank = -1;
  private Hosted.Service hosted;
  /** Null in an elastic job. */
  private Membership group;
  /** Null but in an elastic job; the mesh's once there is one. */
  private MeetingPlace meeting;
  private ElasticMesh mesh;
  private OtherTrainers others;
  private ShardConnections connections;
  private OwnedSession session;
  private RankRun run;
  private ResultFile resultFile;
  private Future<Void> over;
  /** Why the rendezvous has given this trainer up, if it has. */
  private RegattaException lost;

  /** Runs the job's program, loaded by class name. */
  public TrainerVerticle(Node node, TrainerConfig config) {
    this(node, config, null);
  }

  /** Runs a program given in code, the same object on all replicas; null: the job's. */
  public TrainerVerticle(Node node, TrainerConfig config, TrainingProgram program) {
    this(node, config, program, null);
  }

  /** As above, reporting to {@code progress}; null: on the console. */
  public TrainerVerticle(Node node, TrainerConfig config, TrainingProgram program, Progress progress) {
    this.node = node;
    this.config = config;
    this.job = config.job();
    this.program = program;
    this.progress = progress;
  }

  /** Completes when the program has ended on this rank and the rank has left; fails with what ended it. */
  public Future<RunResult> result() {
    return result.future();
  }

  @Override
  public Future<?> finished() {
    return result.future();
  }

  @Override
  public Future<?> start() {
    hosted = node.starting(wanted());
    Duration timeout = node.config().readyTimeout();
    return resultFile()
        .compose(v -> vertx.executeBlocking(() -> {
          JobCheck.distributed(job, program);
          return null;
        }))
        .compose(v -> job.isOverStore() ? Future.<Directory.Instance>succeededFuture()
            : node.directory().awaitAny(Directory.RENDEZVOUS, timeout, wanted()).map(found -> found.get(0)))
        .compose(this::join)
        .compose(v -> servers(timeout))
        .map(this::begin)
        .recover(e -> {
          if (run != null) { // a replica's thread could not be started: the others shall not wait for it
            session.end(new Cancelled(name() + " could not start: " + e.getMessage()));
            run.interrupt();
          }
          hosted.failed(e);
          result.tryFail(e);
          return finish().transform(v -> Future.failedFuture(e));
        });
  }

  /** The job's servers; a trainer that is given up meanwhile waits for them no longer. */
  private Future<ShardFinder.Found> servers(Duration timeout) {
    new ShardFinder(node, job, timeout).find(name())
        .onSuccess(servers::tryComplete).onFailure(servers::tryFail);
    return servers.future();
  }

  /** @param rendezvous null where the job meets over a store */
  private Future<Void> join(Directory.Instance rendezvous) {
    if (over != null) {
      return Future.failedFuture(stopped());
    }
    String member = "trainer with pid " + ProcessHandle.current().pid() + " on " + node.host();
    if (job.isElastic()) {
      return MeetingPlace.open(node, job, rendezvous).compose(opened -> meet(opened, member)).compose(this::met)
          .recover(this::notJoined);
    }
    others = new OtherTrainers(job, () -> group.rank(), this::lastStep);
    group = new Membership(node, rendezvous, job.job(), "trainer", this::lastStep,
        view -> others.seen(view, group.leaseMillis()), why -> givenUp(why.getMessage()));
    return group.join(wanted(), job.trainers(), config.rank(), member, config.endpoint(), node.config().readyTimeout())
        .recover(this::notJoined);
  }

  private Future<ElasticMesh> meet(MeetingPlace opened, String member) {
    meeting = opened;
    if (over != null) {
      return opened.close().transform(closed -> Future.<ElasticMesh>failedFuture(stopped()));
    }
    return ElasticMesh.open(node, context, opened, node.streams(config.stream().options()), job, config.rank(), member,
        e -> givenUp(e.getMessage()), this::placed);
  }

  private Future<Void> met(ElasticMesh opened) {
    mesh = opened;
    if (over != null) {
      return opened.close().transform(closed -> Future.<Void>failedFuture(stopped()));
    }
    return Future.succeededFuture();
  }

  private Cancelled stopped() {
    return new Cancelled(wanted() + " was stopped while it started");
  }

  private Future<Void> notJoined(Throwable e) {
    return Future.failedFuture(e instanceof Conflict ? refused(e) : e);
  }

  /** The rendezvous speaks of groups and members; what a user can change is this trainer's configuration. */
  private Conflict refused(Throwable why) {
    return new Conflict(wanted() + " cannot join: " + why.getMessage() + ". This trainer has job: " + job.job()
        + ", trainers: " + job.trainers() + (config.rank() < 0 ? "" : ", rank (--id) " + config.rank()));
  }

  private long lastStep() {
    return session == null ? -1 : session.step() - 1;
  }

  private void givenUp(String why) {
    StaleGeneration reason = new StaleGeneration(name() + " has been given up by the rendezvous, the others go on without "
        + "it: " + why);
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
      throw stopped();
    }
    if (mesh != null) {
      session = new ElasticSession(node, job, config.stepDelayMs(), mesh, found.processIds());
      LOG.info("{}: joined, {} of {} to {} trainers exchange gradients among themselves", name(), mesh.worldSize(),
          job.fewestTrainers(), job.trainers());
    } else {
      connections = new ShardConnections(node, job, group::generation, this::lastStep, node.streams(config.stream().options()));
      session = new ClusterSession(node, context, job, config.stepDelayMs(), group, others, found, connections);
    }
    if (mesh == null && job.servers() == 0) {
      LOG.info("{}: joined, {} trainers exchange gradients among themselves", name(), job.trainers());
    } else if (mesh == null) {
      LOG.info("{}: joined, {} shard{} on servers {}", name(), session.shards(),
          session.shards() == 1 ? "" : "s", session.serverEndpoints());
    }
    run = new RankRun(session, program, progress, resultFile, new GpuAssignment(config.gpus()));
    measure();
    hosted.serves();
    Future.fromCompletionStage(run.start(), context)
        .onFailure(e -> hosted.lacks(String.valueOf(e.getMessage())))
        .onFailure(e -> session.end(new Cancelled(name() + " has failed in another replica: " + e.getMessage())))
        .onComplete(end -> finish().onComplete(v -> {
          if (end.succeeded()) {
            result.tryComplete(end.result());
          } else {
            result.tryFail(end.cause());
          }
        }));
    return null;
  }

  /** In the next generation of an elastic job the rank may be another, under which figures are told. */
  private void placed() {
    if (measuredRank >= 0 && over == null && rank() != measuredRank) {
      meters.forEach(node.metrics()::remove);
      meters.clear();
      measure();
    }
  }

  private void measure() {
    measuredRank = rank();
    OwnedSession measured = session;
    RankSteps steps = run.steps();
    counter("regatta.trainer.steps", "steps made by this rank", measured::step);
    counter("regatta.trainer.pushes", "pushes made by this rank, each to all shards", steps::made);
    counter("regatta.trainer.skipped.pushes", "pushes left empty for NaN or infinity", steps::skippedPushes);
    counter("regatta.trainer.bad.lines", "lines of the data left out, as data.on_bad_line says, over all passes", run::badLines);
    gauge("regatta.trainer.staleness.max", "highest staleness of a push so far", steps::stalenessMax);
    gauge("regatta.trainer.clock.lead.max", "most clocks that this rank was ahead of the slowest at a pull",
        steps::clockLeadMax);
    SnapshotCounts snapshots = run.snapshots();
    counter("regatta.trainer.snapshots", "snapshots taken by this rank, and written", snapshots::taken);
    counter("regatta.trainer.snapshots.failed", "snapshots that this rank has begun, and that failed", snapshots::failures);
    counter("regatta.trainer.snapshots.bytes", "bytes of those taken", snapshots::bytes);
    counter("regatta.trainer.snapshots.seconds", "time that those took, from the asking to the name", snapshots::seconds);
    gauge("regatta.trainer.snapshots.step", "step of the last one taken; -1: none", snapshots::step);
  }

  private void counter(String name, String description, DoubleSupplier value) {
    meters.add(FunctionCounter.builder(name, this, self -> value.getAsDouble()).tags(tags()).description(description)
        .register(node.metrics())); // a counter holds its object weakly, and this outlives it
  }

  private void gauge(String name, String description, LongSupplier value) {
    meters.add(Gauge.builder(name, value, LongSupplier::getAsLong).strongReference(true).tags(tags())
        .description(description).register(node.metrics()));
  }

  private Tags tags() {
    return Tags.of("job", job.job(), "rank", Integer.toString(rank()));
  }

  /** Leaves in order: shards, group, connections. Once; each farewell has its time. */
  private Future<Void> finish() {
    if (over == null) {
      meters.forEach(node.metrics()::remove);
      Future<Void> shards = session == null ? Future.succeededFuture() : session.leaveShards();
      over = soon(shards)
          .compose(v -> group == null ? Future.succeededFuture() : soon(group.leave()))
          .compose(v -> soon(leavePeers()))
          .compose(v -> connections == null ? Future.succeededFuture() : soon(connections.close()));
    }
    return over;
  }

  private Future<Void> leavePeers() {
    if (session != null) {
      return session.closeLinks();
    }
    return mesh != null ? mesh.close() : meeting != null ? meeting.leave() : Future.succeededFuture();
  }

  private static Future<Void> soon(Future<Void> farewell) {
    return farewell.timeout(STOP_MILLIS, TimeUnit.MILLISECONDS).otherwiseEmpty();
  }

  /** Sees, before anything runs for hours, that the result can be written here: every rank may be the lowest at the end. */
  private Future<Void> resultFile() {
    if (config.result().isBlank()) {
      return Future.succeededFuture();
    }
    return vertx.executeBlocking(() -> ResultFile.at(Path.of(config.result())))
        .onSuccess(file -> resultFile = file).mapEmpty();
  }

  /** Nobody shall wait for a trainer until its lease ends that was stopped while it waited for them. */
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
      return finish();
    }
    boolean running = !run.result().isDone();
    session.end(reason);
    if (running) {
      run.interrupt();
    }
    return soon(Future.fromCompletionStage(run.ended(), context)).compose(v -> finish())
        .onComplete(v -> result.tryFail(reason));
  }

  /** As messages name this trainer; its first generation may end before this has the mesh, and with it a rank. */
  private String name() {
    return mesh == null && group == null ? wanted() : "trainer " + rank() + " of job " + job.job();
  }

  private int rank() {
    return mesh != null ? mesh.rank() : group.rank();
  }

  /** As messages name it before it has joined. */
  private String wanted() {
    return "trainer " + (config.rank() < 0 ? "(any rank)" : config.rank()) + " of job " + job.job();
  }
}
