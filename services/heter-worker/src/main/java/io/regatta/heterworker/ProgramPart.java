package io.regatta.heterworker;

import io.regatta.core.error.RegattaException;
import io.regatta.training.TrainingProgram;
import io.regatta.training.config.GpuAssignment;
import io.regatta.training.heter.PartHost;
import io.regatta.training.heter.run.HeterRun;
import io.regatta.training.heter.run.HostSession;
import java.util.concurrent.CompletableFuture;

/** The part of a job's program, which runs on a model thread as far as {@code trainer.initialize}. Any thread may use it. */
final class ProgramPart implements PartComputation {

  private final HostSession session;
  private final HeterRun run;

  /**
   * Creates a part that is not built yet.
   *
   * @param program null: the job's class
   */
  ProgramPart(HeterWorkerConfig config, TrainingProgram program, PartHost host, int index) {
    session = new HostSession(config.job(), host);
    run = new HeterRun(session, program, new GpuAssignment(config.gpus()), index);
  }

  @Override
  public CompletableFuture<Void> start() {
    return run.start();
  }

  @Override
  public void stop(RegattaException reason) {
    session.end(reason);
    run.interrupt();
  }
}
