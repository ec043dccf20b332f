package io.regatta.fleet.process;

import io.regatta.training.TrainingProgram;
import io.regatta.training.config.GpuAssignment;
import io.regatta.training.config.JobConfig;
import io.regatta.training.result.ResultFile;
import io.regatta.training.result.RunResult;
import io.regatta.training.run.LocalRun;
import io.vertx.core.Future;
import io.vertx.core.Promise;

/** A whole job in this process without services, awaited by a thread of its own. */
final class LocalProcess implements Run {

  private final Promise<RunResult> result = Promise.promise();
  private final Thread thread;

  private LocalProcess(JobConfig job, TrainingProgram program, ResultFile resultFile, GpuAssignment gpus) {
    thread = new Thread(() -> {
      try {
        result.tryComplete(LocalRun.run(job, program, null, resultFile, gpus));
      } catch (RuntimeException | Error e) {
        result.tryFail(e);
      }
    }, "regatta-local-" + job.job());
  }

  /**
   * Starts it.
   *
   * @param resultFile null: none
   */
  static LocalProcess start(JobConfig job, TrainingProgram program, ResultFile resultFile, GpuAssignment gpus) {
    LocalProcess process = new LocalProcess(job, program, resultFile, gpus);
    process.thread.start();
    return process;
  }

  @Override
  public Future<RunResult> result() {
    return result.future();
  }

  @Override
  public Future<Void> close() {
    thread.interrupt();
    return result.future().transform(ended -> Future.succeededFuture());
  }
}
