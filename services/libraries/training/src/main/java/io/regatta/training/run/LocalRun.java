package io.regatta.training.run;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.progress.Progress;
import io.regatta.training.TrainingProgram;
import io.regatta.training.config.GpuAssignment;
import io.regatta.training.config.JobConfig;
import io.regatta.training.result.ResultFile;
import io.regatta.training.result.RunResult;
import io.regatta.training.session.Awaiting;
import io.regatta.training.session.LocalSession;
import java.util.concurrent.ExecutionException;

/**
 * A run of a program in this process without any service ({@code --local}): same core, tables in process, one rank with
 * {@code threads} replicas, each on its own model thread. It runs as sync, whatever the job's mode; see
 * {@link LocalSession}.
 */
public final class LocalRun {

  private LocalRun() {}

  /**
   * Runs to the end; the calling thread waits. Interrupting it stops the run.
   *
   * @param program null: the job's class
   * @param progress null: on the console
   */
  public static RunResult run(JobConfig job, TrainingProgram program, Progress progress) {
    return run(job, program, progress, null);
  }

  /** Runs, and writes the result to a file; null: none. */
  public static RunResult run(JobConfig job, TrainingProgram program, Progress progress, ResultFile resultFile) {
    return run(job, program, progress, resultFile, GpuAssignment.NONE);
  }

  /** Runs on the first of these GPUs. */
  public static RunResult run(JobConfig job, TrainingProgram program, Progress progress, ResultFile resultFile,
      GpuAssignment gpus) {
    return run(new LocalSession(job), program, progress, resultFile, gpus);
  }

  /** Runs on a session, which it closes; its network may be cut. */
  public static RunResult run(LocalSession given, TrainingProgram program, Progress progress, ResultFile resultFile,
      GpuAssignment gpus) {
    try (LocalSession session = given) {
      JobCheck.alone(session.job(), program);
      RankRun run = new RankRun(session, program, progress, resultFile, gpus);
      try {
        return run.start().get();
      } catch (InterruptedException e) {
        session.close();
        run.interrupt();
        Thread.currentThread().interrupt();
        throw new Cancelled("job " + session.job().job() + " was interrupted");
      } catch (ExecutionException e) {
        throw Awaiting.rethrown(e.getCause());
      }
    }
  }
}
