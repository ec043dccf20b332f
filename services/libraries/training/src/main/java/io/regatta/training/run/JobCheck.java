package io.regatta.training.run;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.optim.Sgd;
import io.regatta.snapshot.WritablePlace;
import io.regatta.training.TrainingProgram;
import io.regatta.training.config.GpuAssignment;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.OptimizerConfig;
import io.regatta.training.model.Devices;
import io.regatta.training.model.Engines;
import io.regatta.training.result.RunRecord;
import io.regatta.training.snapshot.StartingPoint;
import java.io.IOException;
import java.nio.file.Path;

/**
 * The check of a job before anything starts, so that errors show before hours of training and outside of a start.
 * Stateless; any thread may use it. It blocks, so it must not be used on an event loop.
 */
public final class JobCheck {

  private JobCheck() {}

  /**
   * Checks a job with tables in this process: its engine and GPU, its output directory and timeline, its table of
   * algorithms, and its program's own check.
   *
   * @param program null: the one that the job names
   * @throws InvalidInput for the first error
   */
  public static void alone(JobConfig job, TrainingProgram program) {
    Engines.check(job.engine());
    device(job, job.device());
    output(job);
    snapshots(job);
    trace(job);
    AlgorithmTable.of(job);
    ProgramLoader.check(job, program);
  }

  /** Checks a job on servers: all of {@link #alone}, and that its mode supports its optimizer. */
  public static void distributed(JobConfig job, TrainingProgram program) {
    RunRecord.refuseEnded(job.job(), job.runId(), job.output()); // first: its files may look like another job's
    if (job.mode().pushesDeltas()) {
      requireSgd("optimizer", job.optimizer());
      requireSgd("sparse_optimizer", job.sparseOptimizer());
    }
    alone(job, program);
  }

  /**
   * Starts the job's engine if a GPU is requested, and checks that the first trainer's GPU exists.
   *
   * @param gpus of the trainers of this machine
   * @throws InvalidInput if it does not
   */
  public static void device(JobConfig job, GpuAssignment gpus) {
    device(job, gpus.device(job.device(), job.mode(), 0));
  }

  /**
   * Checks a job at a heter worker, which writes nothing and starts no engine before it computes: its engine, and its
   * program's own check.
   *
   * @param program null: the one that the job names
   * @throws InvalidInput for the first error
   */
  public static void computing(JobConfig job, TrainingProgram program) {
    Engines.check(job.engine());
    ProgramLoader.check(job, program);
  }

  private static void requireSgd(String section, OptimizerConfig optimizer) {
    if (!(optimizer.toSpec().optimizer() instanceof Sgd)) { // naive is SGD
      throw new InvalidInput("geo mode trains with SGD only, but " + section + ".kind is "
          + optimizer.kind() + "; set " + section + ".kind: sgd, or choose another mode");
    }
  }

  /** Checks a GPU. Only its engine knows whether it exists, which is worth starting the engine here. */
  private static void device(JobConfig job, String device) {
    if (device.startsWith("gpu:")) {
      Engines.check(job.engine());
      Engines.start(job.engine(), job.computeThreads());
      Devices.of(device);
    }
  }

  private static void output(JobConfig job) {
    if (job.output().isBlank()) {
      return;
    }
    Path dir = Path.of(job.output()).toAbsolutePath();
    try {
      WritablePlace.check(dir);
    } catch (IOException e) {
      throw new InvalidInput("job " + job.job() + ": the model cannot be saved in " + dir + ": " + e.getMessage()
          + "; choose another directory with --output (output)", e);
    }
  }

  private static void snapshots(JobConfig job) {
    StartingPoint start = StartingPoint.of(job); // checks that there is a snapshot to resume from
    if (!job.snapshots().isOn()) {
      return;
    }
    Path dir = StartingPoint.root(job);
    try {
      WritablePlace.check(dir);
      if (!job.worldSize().elastic()) { // a trainer may join an elastic job that is running
        start.refuseOthersIn(dir);
      }
    } catch (IOException e) {
      throw new InvalidInput("job " + job.job() + ": snapshots cannot be written to " + dir + ": " + e.getMessage()
          + "; choose another directory (snapshots.dir)", e);
    }
  }

  private static void trace(JobConfig job) {
    if (job.trace().file().isBlank()) {
      return;
    }
    Path file = Path.of(job.trace().file()).toAbsolutePath();
    try {
      WritablePlace.check(file.getParent());
    } catch (IOException e) {
      throw new InvalidInput("job " + job.job() + ": the timeline cannot be written to " + file + ": " + e.getMessage()
          + "; choose another place with --trace (trace.file)", e);
    }
  }
}
