package io.regatta.training.save;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.exchange.RowSink;
import io.regatta.core.exchange.SparseRows;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A transfer of the slices of an export from the links' event loop, which must not do I/O, to the model thread that
 * writes them. Two threads use it: the loop offers, the model thread takes. It holds one slice at most, so that two are
 * in memory with the one being written; while one waits here, the loop reads no more from the shard.
 */
final class RowHandover implements RowSink {

  private SparseRows waiting; // guarded by this, as are the following
  private CompletableFuture<Void> taken;
  private CompletableFuture<SparseRows> requested;
  private CompletableFuture<SparseRows> end;
  private Cancelled closed;

  @Override
  public CompletionStage<Void> take(SparseRows slice) {
    CompletableFuture<SparseRows> taker;
    synchronized (this) {
      if (closed != null) {
        return CompletableFuture.failedFuture(closed);
      }
      taker = requested;
      requested = null;
      if (taker == null) {
        waiting = slice;
        taken = new CompletableFuture<>();
        return taken;
      }
    }
    taker.complete(slice);
    return CompletableFuture.completedFuture(null);
  }

  /** Returns the next slice for the model thread, which requests one at a time; null when all have been taken. */
  CompletableFuture<SparseRows> next() {
    CompletableFuture<Void> gone;
    SparseRows slice;
    synchronized (this) {
      if (waiting == null) {
        if (end != null) {
          return end;
        }
        requested = new CompletableFuture<>();
        return requested;
      }
      slice = waiting;
      gone = taken;
      waiting = null;
    }
    gone.complete(null);
    return CompletableFuture.completedFuture(slice);
  }

  /** Ends the export: after the waiting slice the model thread gets null, or the failure. */
  void ended(Throwable failure) {
    CompletableFuture<SparseRows> taker;
    CompletableFuture<SparseRows> outcome = failure == null ? CompletableFuture.completedFuture(null)
        : CompletableFuture.failedFuture(failure);
    synchronized (this) {
      end = outcome;
      taker = requested;
      requested = null;
    }
    if (taker != null) {
      outcome.whenComplete((slice, e) -> {
        if (e == null) {
          taker.complete(null);
        } else {
          taker.completeExceptionally(e);
        }
      });
    }
  }

  /** Cancels the export from the model thread; if it is still running, it fails with {@link Cancelled}. */
  void close() {
    CompletableFuture<Void> gone;
    synchronized (this) {
      closed = new Cancelled("the export was cancelled");
      gone = waiting == null ? null : taken;
      waiting = null;
    }
    if (gone != null) {
      gone.completeExceptionally(closed);
    }
  }
}
