package io.regatta.training.heter.run;

import ai.djl.Device;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.training.TrainingProgram;
import io.regatta.training.config.GpuAssignment;
import io.regatta.training.config.JobConfig;
import io.regatta.training.heter.PartHost;
import io.regatta.training.heter.part.PartLoop;
import io.regatta.training.model.Devices;
import io.regatta.training.model.Engines;
import io.regatta.training.model.ModelExecutor;
import io.regatta.training.run.ProgramFailed;
import io.regatta.training.run.ProgramLoader;
import io.regatta.training.session.TrainerSession;
import java.util.concurrent.CompletableFuture;

/**
 * The run of a job's program at a heter worker, on a model thread of its own. Created and started by the owner of the
 * session; the futures complete on the model thread.
 */
public final class HeterRun {

  private final TrainerSession session;
  private final TrainingProgram program;
  private final GpuAssignment gpus;
  private final int index;
  private final CompletableFuture<Void> result = new CompletableFuture<>();
  private final CompletableFuture<Void> ended = new CompletableFuture<>();
  private ModelExecutor executor;

  /**
   * Creates a run; nothing runs yet.
   *
   * @param session with a {@link TrainerSession#host}
   * @param program null: the job's class
   * @param gpus of the heter workers of this machine
   * @param index number of this heter worker
   */
  public HeterRun(TrainerSession session, TrainingProgram program, GpuAssignment gpus, int index) {
    this.session = session;
    this.program = program;
    this.gpus = gpus;
    this.index = index;
  }

  /**
   * Starts the model thread; called once.
   *
   * @return completes once the job has ended; fails if the program fails, or never initializes its trainer
   */
  public CompletableFuture<Void> start() {
    JobConfig job = session.job();
    CompletableFuture<Void> outcome = new CompletableFuture<>();
    outcome.whenComplete((v, e) -> {
      if (e == null) {
        result.complete(null);
      } else {
        result.completeExceptionally(explained(e));
      }
      ended.complete(null);
    });
    executor = ModelExecutor.start("regatta-model-" + job.job() + "-heter-" + index, job.modelThreadIdleMs(),
        this::run, outcome);
    return result;
  }

  private Void run() throws Exception {
    JobConfig job = session.job();
    PartHost host = session.host().orElseThrow();
    Engines.start(job.engine(), job.computeThreads());
    Device device = Devices.of(gpus.device(job.heter().device(), job.mode(), index));
    TrainingProgram own = program != null ? program : ProgramLoader.load(job);
    HostWorker worker = new HostWorker(session, host, device);
    try {
      own.run(worker);
    } catch (PartLoop.Ended e) {
      return null;
    }
    throw new InvalidInput("job " + job.job() + ": the program " + own.getClass().getName() + (worker.hasMadeTrainer()
        ? " has ended without trainer.initialize(shapes)" : " has ended and made no trainer")
        + ", so that its heter worker has "
        + "nothing to compute; it must initialize a trainer in every process");
  }

  /** Returns a future that completes when the model thread has ended, in any outcome. */
  public CompletableFuture<Void> ended() {
    return ended;
  }

  /** Interrupts the model thread; the session has been ended before, so that it finds a reason. */
  public void interrupt() {
    if (executor != null) {
      executor.interrupt();
    }
  }

  private RuntimeException explained(Throwable e) {
    if (e instanceof RegattaException ours) {
      return ours;
    }
    String name = program != null ? program.getClass().getName() : session.job().program();
    return new ProgramFailed("program " + name + " of job " + session.job().job() + " failed on heter worker "
        + index + ": " + e, e);
  }
}
