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
 * The program on one rank: a model thread per replica, and at the end what the ranks tell each other about the run.
 * Made by whoever owns the session; {@link #result} completes on a model thread.
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
  /** Replicas whose model threads are not at their end; counted down by each. */
  private final AtomicInteger running;

  /** Without a result file or GPUs; the parameters are those of the other constructor. */
  public RankRun(TrainerSession session, TrainingProgram program, Progress progress) {
    this(session, program, progress, null, GpuAssignment.NONE);
  }

  /**
   * Nothing runs yet.
   *
   * @param program null: the job's class, one instance per replica
   * @param progress of the first worker; null: on the console
   * @param resultFile where the result goes if this is the lowest rank at the end that has such a file; null: none
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

  /** Starts the model threads; called once. The future is {@link #result}. */
  public CompletableFuture<RunResult> start() {
    JobConfig job = session.job();
    List<CompletableFuture<RunResult>> ends = new ArrayList<>();
    for (int replica = 0; replica < group.size(); replica++) {
      int r = replica;
      CompletableFuture<RunResult> end = new CompletableFuture<>();
      ends.add(end);
      end.whenComplete((v, e) -> {
        if (e instanceof PeerLost) { // of which replica 0 fails, too, and then saves what is left
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

  /** Completes when all replicas have ended, and fails with the first failure of one. */
  public CompletableFuture<RunResult> result() {
    return result;
  }

  /** This rank's pushes and what the shards said about them. */
  public RankSteps steps() {
    return group.steps();
  }

  /** Lines that this rank has left out so far, as {@code data.on_bad_line} says. */
  public long badLines() {
    return group.badLines();
  }

  /** The snapshots that this rank has taken. */
  public SnapshotCounts snapshots() {
    return group.snapshots();
  }

  /**
   * Returns a future that completes when no model would be lost by a stop: none is being saved, nor trained to its end and still to be
   * saved. It is complete while this rank trains.
   */
  public CompletableFuture<Void> modelSaved() {
    return saves.underWay();
  }

  /** Returns the directory of the last model that is whole; empty if this rank knows of none. */
  public String model() {
    return saves.saved();
  }

  /** Completes when all model threads are at their end, in any outcome. */
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

  /** No replica that has lost a peer is at its end before it has said so: it is not missed here. */
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
      worker.checkSettings(); // a program without a trainer, too
      group.joinOthersSteps(); // this rank may be the one that takes snapshots of them
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

  /** Whose progress the first worker's is; empty if it is alone. */
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

  /** What ended the program, in one line that says where. Ours say that themselves. */
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
