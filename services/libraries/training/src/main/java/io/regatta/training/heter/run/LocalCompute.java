package io.regatta.training.heter.run;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.loop.Clock;
import io.regatta.protocol.heter.BatchToCompute;
import io.regatta.protocol.heter.ComputedBatch;
import io.regatta.protocol.heter.TensorData;
import io.regatta.protocol.tensor.CutOpen;
import io.regatta.protocol.tensor.CutOpened;
import io.regatta.protocol.vertx.SystemClock;
import io.regatta.training.TrainingProgram;
import io.regatta.training.config.GpuAssignment;
import io.regatta.training.config.JobConfig;
import io.regatta.training.heter.CutSignatures;
import io.regatta.training.heter.RemoteCompute;
import io.regatta.training.heter.queue.BatchQueue;
import io.regatta.training.heter.queue.SerialExecutor;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A heter worker within the process of its trainers: the same program and the same computation, without a network. It
 * computes each batch alone, in order of arrival. Any thread may use it.
 */
public final class LocalCompute implements RemoteCompute, AutoCloseable {

  /**
   * Sums over batches so far.
   *
   * @param batches that have been computed
   * @param examples in them
   * @param bytesOut from trainers
   * @param bytesBack to trainers
   * @param computedNanos time of the computations
   * @param answeredNanos time from each request to its answer, with the wait for other batches
   */
  public record Sums(long batches, long examples, long bytesOut, long bytesBack, long computedNanos,
      long answeredNanos) {

    static final Sums NONE = new Sums(0, 0, 0, 0, 0, 0);

    Sums plus(BatchToCompute batch, ComputedBatch result, long nanos) {
      return new Sums(batches + 1, examples + batch.head().getExamples(), bytesOut + bytes(batch.tensors()),
          bytesBack + bytes(result.tensors()), computedNanos + result.head().getComputedNs(), answeredNanos + nanos);
    }

    /** Returns what has been added since an earlier time. */
    public Sums since(Sums earlier) {
      return new Sums(batches - earlier.batches, examples - earlier.examples, bytesOut - earlier.bytesOut,
          bytesBack - earlier.bytesBack, computedNanos - earlier.computedNanos, answeredNanos - earlier.answeredNanos);
    }

    private static long bytes(List<TensorData> tensors) {
      return tensors.stream().mapToLong(data -> data.bytes().remaining()).sum();
    }
  }

  private final Clock clock = SystemClock.get();
  private final SerialExecutor owner = new SerialExecutor();
  private final BatchQueue queue;
  private final HostSession session;
  private final HeterRun run;
  private volatile Sums sums = Sums.NONE;

  /**
   * Creates a heter worker; call {@link #start} next.
   *
   * @param program null: the job's class
   */
  public LocalCompute(JobConfig job, TrainingProgram program) {
    queue = new BatchQueue(owner, clock, 0);
    session = new HostSession(job, queue);
    run = new HeterRun(session, program, GpuAssignment.NONE, 0);
  }

  /** Starts its model thread; called once. */
  public LocalCompute start() {
    run.start().whenComplete((v, e) -> {
      if (e != null) {
        fail(e instanceof RegattaException known ? known : new InvalidInput(e.getMessage(), e));
      }
    });
    return this;
  }

  private void fail(RegattaException why) {
    owner.execute(() -> queue.close(why));
  }

  @Override
  public CompletionStage<CutOpened> open(CutOpen open) {
    queue.want();
    return queue.signature().thenApplyAsync(own -> {
      CutSignatures.check(session.job(), own, open, "a trainer");
      return CutOpened.newBuilder().setSignature(own).setDevice(session.job().heter().device()).build();
    }, owner);
  }

  /** Computes a batch; fails at once after {@link #close}. */
  @Override
  public CompletionStage<ComputedBatch> compute(BatchToCompute batch) {
    long sinceNanos = clock.nanos();
    CompletableFuture<ComputedBatch> answer = new CompletableFuture<>();
    owner.execute(() -> queue.add(batch).whenComplete((result, refusal) -> {
      if (refusal != null) {
        answer.completeExceptionally(refusal);
      } else {
        sums = sums.plus(batch, result, clock.nanos() - sinceNanos);
        answer.complete(result);
      }
    }));
    return answer;
  }

  @Override
  public String worker() {
    return "the heter worker in this process";
  }

  /** Returns the sums over all batches. */
  public Sums sums() {
    return sums;
  }

  /** Ends the heter worker once it has computed what waits. */
  @Override
  public void close() {
    owner.execute(() -> queue.closeAfterWaiting(new Cancelled("the heter worker in this process has been closed")));
  }

  /** Returns a future that completes when the model thread has ended. */
  public CompletableFuture<Void> ended() {
    return run.ended();
  }
}
