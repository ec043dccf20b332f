package io.regatta.training.save;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.exchange.RowSink;
import io.regatta.core.exchange.SparseRows;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Hands the slices of an export from the links' event loop, which must not do I/O, to the model thread that writes them.
 * Two threads: the loop offers, the model thread takes. It holds one slice at most, so that with the one being written
 * two are in memory; while one waits here the loop reads no more from the shard.
 */
final class RowHandover implements RowSink {

  private SparseRows waiting; // guarded by this, as all that follows
  private CompletableFuture<Void> taken;
  private CompletableFuture<SparseRows> wanted;
  private CompletableFuture<SparseRows> end;
  private Cancelled closed;

  @Override
  public CompletionStage<Void> take(SparseRows slice) {
    CompletableFuture<SparseRows> taker;
    synchronized (this) {
      if (closed != null) {
        return CompletableFuture.failedFuture(closed);
      }
      taker = wanted;
      wanted = null;
      if (taker == null) {
        waiting = slice;
        taken = new CompletableFuture<>();
        return taken;
      }
    }
    taker.complete(slice);
    return CompletableFuture.completedFuture(null);
  }

  /** The next slice for the model thread, which asks for one at a time; null when all have been given. */
  CompletableFuture<SparseRows> next() {
    CompletableFuture<Void> gone;
    SparseRows slice;
    synchronized (this) {
      if (waiting == null) {
        if (end != null) {
          return end;
        }
        wanted = new CompletableFuture<>();
        return wanted;
      }
      slice = waiting;
      gone = taken;
      waiting = null;
    }
    gone.complete(null);
    return CompletableFuture.completedFuture(slice);
  }

  /** The export has ended: behind what waits comes null, or its failure. */
  void ended(Throwable failure) {
    CompletableFuture<SparseRows> taker;
    CompletableFuture<SparseRows> outcome = failure == null ? CompletableFuture.completedFuture(null)
        : CompletableFuture.failedFuture(failure);
    synchronized (this) {
      end = outcome;
      taker = wanted;
      wanted = null;
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

  /** The model thread wants no more: the export, if it still goes on, is let go and fails with {@link Cancelled}. */
  void close() {
    CompletableFuture<Void> gone;
    synchronized (this) {
      closed = new Cancelled("the export was given up");
      gone = waiting == null ? null : taken;
      waiting = null;
    }
    if (gone != null) {
      gone.completeExceptionally(closed);
    }
  }
}
