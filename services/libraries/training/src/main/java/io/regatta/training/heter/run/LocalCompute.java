package io.regatta.training.heter.run;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.protocol.heter.BatchToCompute;
import io.regatta.protocol.heter.ComputedBatch;
import io.regatta.protocol.heter.TensorData;
import io.regatta.protocol.tensor.CutOpen;
import io.regatta.protocol.tensor.CutOpened;
import io.regatta.protocol.tensor.CutSignature;
import io.regatta.training.TrainingProgram;
import io.regatta.training.config.GpuAssignment;
import io.regatta.training.config.JobConfig;
import io.regatta.training.heter.CutSignatures;
import io.regatta.training.heter.PartHost;
import io.regatta.training.heter.RemoteCompute;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A heter worker within the process of its trainers: the same program and the same computation, without a network. It
 * computes each batch alone, in order of arrival. Any thread may use it; its lock is never held while a thread waits.
 */
public final class LocalCompute implements RemoteCompute, PartHost, AutoCloseable {

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

  private record Request(BatchToCompute batch, long sinceNanos, CompletableFuture<ComputedBatch> answer) {}

  private final HostSession session;
  private final HeterRun run;
  private final CompletableFuture<Void> wanted = new CompletableFuture<>();
  private final CompletableFuture<CutSignature> own = new CompletableFuture<>();
  private final CompletableFuture<RegattaException> failed = new CompletableFuture<>();
  private final Deque<Request> waiting = new ArrayDeque<>();
  private CompletableFuture<Optional<PartWork>> next;
  private boolean closed;
  private Sums sums = Sums.NONE;

  /**
   * Creates a heter worker; call {@link #start} next.
   *
   * @param program null: the job's class
   */
  public LocalCompute(JobConfig job, TrainingProgram program) {
    session = new HostSession(job, this);
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
    List<Request> open;
    synchronized (this) {
      failed.complete(why);
      open = List.copyOf(waiting);
      waiting.clear();
    }
    own.completeExceptionally(why);
    open.forEach(request -> request.answer().completeExceptionally(why));
  }

  @Override
  public CompletionStage<CutOpened> open(CutOpen open) {
    wanted.complete(null);
    return own.thenApply(expected -> {
      CutSignatures.check(session.job(), expected, open, "a trainer");
      return CutOpened.newBuilder().setSignature(expected).setDevice(session.job().heter().device()).build();
    });
  }

  @Override
  public CompletionStage<ComputedBatch> compute(BatchToCompute batch) {
    Request request = new Request(batch, session.clock().nanos(), new CompletableFuture<>());
    synchronized (this) {
      waiting.add(request);
    }
    RegattaException why = failed.getNow(null);
    if (why != null) {
      fail(why);
    }
    assign();
    return request.answer();
  }

  @Override
  public String worker() {
    return "the heter worker in this process";
  }

  /** Returns the sums over all batches. */
  public synchronized Sums sums() {
    return sums;
  }

  @Override
  public CompletionStage<Void> wanted() {
    return wanted;
  }

  @Override
  public void ready(CutSignature signature, boolean gatherable) {
    own.complete(signature);
  }

  @Override
  public CompletionStage<Optional<PartWork>> next() {
    CompletableFuture<Optional<PartWork>> wish = new CompletableFuture<>();
    synchronized (this) {
      next = wish;
    }
    assign();
    return wish;
  }

  /** Gives the model thread the batch that has waited longest, if both are there. */
  private void assign() {
    CompletableFuture<Optional<PartWork>> wish;
    Optional<PartWork> work;
    synchronized (this) {
      if (next == null || waiting.isEmpty() && !closed) {
        return;
      }
      wish = next;
      next = null;
      work = waiting.isEmpty() ? Optional.empty() : Optional.of(work(waiting.poll()));
    }
    wish.complete(work);
  }

  private PartWork work(Request request) {
    return new PartWork(List.of(request.batch()), results -> done(request, results.get(0)),
        request.answer()::completeExceptionally);
  }

  private void done(Request request, ComputedBatch result) {
    synchronized (this) {
      sums = sums.plus(request.batch(), result, session.clock().nanos() - request.sinceNanos());
    }
    request.answer().complete(result);
  }

  /** Ends the heter worker once it has computed what waits. */
  @Override
  public void close() {
    synchronized (this) {
      closed = true;
    }
    wanted.complete(null);
    assign();
  }

  /** Returns a future that completes when the model thread has ended. */
  public CompletableFuture<Void> ended() {
    return run.ended();
  }
}
