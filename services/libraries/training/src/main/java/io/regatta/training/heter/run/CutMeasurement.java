package io.regatta.training.heter.run;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.progress.Progress;
import io.regatta.node.settings.Settings;
import io.regatta.training.TrainingProgram;
import io.regatta.training.config.GpuAssignment;
import io.regatta.training.config.HeterConfig;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.SnapshotConfig;
import io.regatta.training.run.RankRun;
import io.regatta.training.session.Awaiting;
import io.regatta.training.session.LocalSession;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * A measurement of the two parts of a job's network: some steps of one trainer in this process without a cut, then with
 * a heter worker in the same process. Nothing is saved. The calling thread waits.
 */
public final class CutMeasurement {

  /**
   * The measured times on this machine, means per batch.
   *
   * @param batch examples of a batch
   * @param uncutSeconds of a step without a cut
   * @param trainerSeconds of a step with a cut, without the time from a batch's request to its answer
   * @param partSeconds of the part that heter workers compute
   * @param bytesOut from the trainer to the heter worker
   * @param bytesBack from the heter worker to the trainer
   */
  public record CutCosts(int batch, double uncutSeconds, double trainerSeconds, double partSeconds, double bytesOut,
      double bytesBack) {}

  /** Times of a run of which a part is measured. Written by the model thread, read once it is complete. */
  private static final class Span {
    private final CompletableFuture<Void> over = new CompletableFuture<>();
    private LocalCompute.Sums before;
    private LocalCompute.Sums after;
    private long beganNanos;
    private long endedNanos;
  }

  private static final double NANOS = 1e9;

  private final JobConfig job;
  private final TrainingProgram program;
  private final int steps;

  private CutMeasurement(JobConfig job, TrainingProgram program, int steps) {
    HeterConfig heter = job.heter();
    this.job = job.with(j -> j.threads(1).output("").resume("").snapshots(Settings.defaults(SnapshotConfig.class))
        .maxSteps(2L * steps + 1).heter(new HeterConfig(heter.workers(), heter.part(), heter.device(), 1, 0,
        HeterConfig.DensePath.TRAINERS, true)));
    this.program = program;
    this.steps = steps;
  }

  /**
   * Measures a job. As many steps as are measured go before, which compile and fill caches. The dense values of the
   * part
   * travel with each batch, whichever way {@code heter.dense} gives them: there are no servers here.
   *
   * @param program null: the job's class
   * @param steps to measure
   * @throws InvalidInput if the network has no cut, or the data have too few batches
   */
  public static CutCosts of(JobConfig job, TrainingProgram program, int steps) {
    CutMeasurement measurement = new CutMeasurement(job, program, steps);
    Span uncut = measurement.run(null);
    Span cut;
    try (LocalCompute compute = new LocalCompute(measurement.job, program).start()) {
      cut = measurement.run(compute);
    }
    LocalCompute.Sums sums = cut.after.since(cut.before);
    if (sums.batches() == 0) {
      throw new InvalidInput("job " + job.job() + ": no batch went to the heter worker, so its network has no cut");
    }
    double seconds = (cut.endedNanos - cut.beganNanos) / NANOS;
    return new CutCosts(Math.toIntExact(sums.examples() / sums.batches()),
        (uncut.endedNanos - uncut.beganNanos) / NANOS / steps,
        (seconds - sums.answeredNanos() / NANOS) / steps, sums.computedNanos() / NANOS / sums.batches(),
        (double) sums.bytesOut() / sums.batches(), (double) sums.bytesBack() / sums.batches());
  }

  /** @param compute null: without a cut */
  private Span run(LocalCompute compute) {
    Span span = new Span();
    CompletableFuture<LocalSession> own = new CompletableFuture<>();
    LocalSession session = new LocalSession(job, compute, step -> stepped(span, compute, step, own.join()));
    own.complete(session);
    RankRun run = new RankRun(session, program, Progress.none(), null, GpuAssignment.NONE);
    run.start().whenComplete((result, e) -> {
      if (e != null) {
        span.over.completeExceptionally(e);
      } else {
        span.over.completeExceptionally(new InvalidInput("job " + job.job() + " has ended after " + result.steps()
            + " steps, and "
            + (2L * steps) + " are needed: give fewer with --steps"));
      }
    });
    try {
      span.over.get();
      return span;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new Cancelled("the measurement of job " + job.job() + " was interrupted");
    } catch (ExecutionException e) {
      throw Awaiting.rethrown(e.getCause());
    } finally {
      session.close();
      run.interrupt();
      run.ended().join();
    }
  }

  private void stepped(Span span, LocalCompute compute, long step, LocalSession session) {
    if (step == steps) {
      span.beganNanos = session.clock().nanos();
      span.before = compute == null ? null : compute.sums();
    } else if (step == 2L * steps) {
      span.endedNanos = session.clock().nanos();
      span.after = compute == null ? null : compute.sums();
      span.over.complete(null);
    }
  }
}
