package io.regatta.training.run;

import ai.djl.Device;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.progress.Progress;
import io.regatta.training.TrainingProgram;
import io.regatta.training.config.GpuAssignment;
import io.regatta.training.config.JobConfig;
import io.regatta.training.model.Devices;
import io.regatta.training.model.Engines;
import io.regatta.training.model.ModelExecutor;
import io.regatta.training.replica.RankSteps;
import io.regatta.training.replica.ReplicaContext;
import io.regatta.training.replica.ReplicaGroup;
import io.regatta.training.result.ResultFile;
import io.regatta.training.result.RunResult;
import io.regatta.training.session.RankOperations;
import io.regatta.training.session.TrainerSession;
import io.regatta.training.snapshot.SnapshotCounts;
import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The run of the program on one rank: a model thread per replica, and at the end the ranks' exchange about the run.
 * Created by the owner of the session; {@link #result} completes on a model thread.
 */
public final class RankRun {

  private final TrainerSession session;
  private final TrainingProgram program;
  private final Progress progress;
  private final GpuAssignment gpus;
  private final ReplicaGroup group;
  private final RankCollectives collectives;
  private final ModelSaves saves = new ModelSaves();
  private final RunEnd end;
  private final ModelSalvage salvage;
  private final ReplicaStop stop = new ReplicaStop();
  private final List<ModelExecutor> executors = new ArrayList<>();
  private final CompletableFuture<RunResult> result = new CompletableFuture<>();
  private final CompletableFuture<Void> ended = new CompletableFuture<>();
  /** Replicas whose model threads have not ended; each decrements it. */
  private final AtomicInteger running;

  /** Creates a run without a result file or GPUs; for the parameters see the other constructor. */
  public RankRun(TrainerSession session, TrainingProgram program, Progress progress) {
    this(session, program, progress, null, GpuAssignment.NONE);
  }

  /**
   * Creates a run; nothing runs yet.
   *
   * @param program null: the job's class, one instance per replica
   * @param progress of the first worker; null: on the console
   * @param resultFile where the result is written if this is the lowest rank at the end with such a file; null: none
   * @param gpus of the trainers of this machine, see {@link io.regatta.training.session.JobGroup#localRank}
   */
  public RankRun(TrainerSession session, TrainingProgram program, Progress progress, ResultFile resultFile,
      GpuAssignment gpus) {
    this.gpus = gpus;
    this.session = session;
    this.program = program;
    this.progress = progress;
    group = new ReplicaGroup(session.job().threads());
    running = new AtomicInteger(group.size());
    collectives = new RankCollectives(session, group);
    end = new RunEnd(session, group, collectives, saves, resultFile);
    salvage = new ModelSalvage(session, saves, end::reached);
  }

  /** Starts the model threads; called once. Returns {@link #result}. */
  public CompletableFuture<RunResult> start() {
    JobConfig job = session.job();
    List<CompletableFuture<RunResult>> ends = new ArrayList<>();
    for (int replica = 0; replica < group.size(); replica++) {
      int r = replica;
      CompletableFuture<RunResult> end = new CompletableFuture<>();
      ends.add(end);
      end.whenComplete((v, e) -> {
        if (e instanceof PeerLost) { // replica 0 fails because of it too, and then saves what is left
          ends.get(0).whenComplete((first, its) -> result.completeExceptionally(explained(its == null ? e : its)));
        } else if (e != null) {
          result.completeExceptionally(explained(e));
        }
      });
      executors.add(ModelExecutor.start("regatta-model-" + job.job() + "-" + session.trainer().rank() + "." + r,
          job.modelThreadIdleMs(), () -> run(r), end));
    }
    CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new)).whenComplete((v, e) -> {
      if (e == null) {
        result.complete(ends.get(0).join());
      }
      ended.complete(null);
    });
    return result;
  }

  /** Returns a future that completes when all replicas have ended, and fails with the first failure of one. */
  public CompletableFuture<RunResult> result() {
    return result;
  }

  /** Returns this rank's pushes and the shards' answers to them. */
  public RankSteps steps() {
    return group.steps();
  }

  /** Returns the lines that this rank has skipped so far, by {@code data.on_bad_line}. */
  public long badLines() {
    return group.badLines();
  }

  /** Returns the snapshots that this rank has taken. */
  public SnapshotCounts snapshots() {
    return group.snapshots();
  }

  /**
   * Returns a future that completes when a stop would lose no model: none is being saved, or trained to its end and
   * still to be saved. It is complete while this rank trains.
   */
  public CompletableFuture<Void> modelSaved() {
    return saves.underWay();
  }

  /** Returns the directory of the last complete model; empty if this rank knows of none. */
  public String model() {
    return saves.saved();
  }

  /** Returns a future that completes when all model threads have ended, in any outcome. */
  public CompletableFuture<Void> ended() {
    return ended;
  }

  /** Interrupts the model threads; the session has been ended before, so that they find a reason. */
  public void interrupt() {
    executors.forEach(ModelExecutor::interrupt);
  }

  private RunResult run(int replica) throws Exception {
    JobConfig job = session.job();
    Engines.start(job.engine(), job.computeThreads());
    Device device = Devices.of(gpus.device(job.device(), job.mode(), session.group().localRank()));
    session.ranks().ifPresent(RankOperations::enter);
    try (Progress shown = progress(replica)) {
      ReplicaWorker worker = new ReplicaWorker(new ReplicaContext(session, group, replica), collectives, saves, device, shown);
      boolean ended = false;
      try {
        if (replica == 0) {
          stop.begin();
        }
        runProgram(worker);
        ended = true;
        return group.collective(session, replica, "end of the run", worker, this::together);
      } catch (Exception e) {
        throw replica == 0 ? salvage.save(worker, stop.failed(e), ended) : stopped(e);
      }
    } finally {
      if (replica == 0) {
        stop.end();
        saves.over();
      }
      group.end(replica);
      if (running.decrementAndGet() == 0) {
        session.trace().end();
      }
    }
  }

  /**
   * Runs the end of the run, unless a replica has lost a peer: it reports that before its end, so that this check sees
   * it.
   */
  private RunResult together(List<ReplicaWorker> workers) {
    stop.check();
    return end.together(workers);
  }

  /** Returns the failure of a replica other than 0. */
  private Exception stopped(Exception why) {
    if (why instanceof PeerLost loss) {
      stop.stop(loss);
    }
    return why;
  }

  private void runProgram(ReplicaWorker worker) throws Exception {
    TrainingProgram own = program != null ? program : ProgramLoader.load(session.job());
    try {
      own.run(worker);
      worker.checkSettings(); // also for a program without a trainer
      group.joinOthersSteps(); // this rank may be the one that takes their snapshots
      worker.endSnapshots();
    } finally {
      worker.closeDatasets();
      worker.dropSnapshots();
    }
    if (worker.trainer() != null) {
      worker.trainer().handIn();
    }
    worker.programEnded();
  }

  private Progress progress(int replica) {
    if (replica == 0 && session.isElastic()) {
      return new FirstRankProgress(() -> session.trainer().rank() == 0, session::worldSize, this::shown);
    }
    return session.trainer().rank() > 0 || replica > 0 ? Progress.none() : shown();
  }

  private Progress shown() {
    return progress != null ? progress : ConsoleProgress.create(session.job().job(), this::reporting);
  }

  /** Returns the name of the first worker's progress; empty if it is alone. */
  private String reporting() {
    StringJoiner part = new StringJoiner(", ");
    if (group.size() > 1) {
      part.add("replica 0 of " + group.size());
    }
    if (session.worldSize() > 1) {
      part.add("trainer 0 of " + session.worldSize());
    }
    return part.toString();
  }

  /**
   * Returns the error that ended the program, in one line that names the program and the trainer. Regatta's own errors
   * do so already.
   */
  private RuntimeException explained(Throwable e) {
    if (e instanceof RegattaException ours) {
      return ours;
    }
    JobConfig job = session.job();
    if (e instanceof InterruptedException) {
      return new Cancelled("job " + job.job() + " was stopped before its end");
    }
    String name = program != null ? program.getClass().getName() : job.program();
    return new ProgramFailed("program " + name + " of job " + job.job() + " failed on trainer "
        + session.trainer().rank() + " after " + group.steps().localSteps() + " steps: " + e, e);
  }
}
