package io.regatta.core.client;

import io.regatta.core.dense.DenseMemory;
import io.regatta.core.dense.DenseValues;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Pulled;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.RowSink;
import io.regatta.core.exchange.ShardLink;
import io.regatta.core.exchange.Shrunk;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.shard.ParameterShard;
import io.regatta.core.shard.RowCursor;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/**
 * A link to a {@link ParameterShard} in the same process and on the same thread, on which {@code --local} trains. Calls
 * run on the caller's thread, which must be the shard's; a call that waits is completed there by the call that releases
 * it.
 */
public final class LocalShardLink implements ShardLink {

  /** Number of rows per slice of an export. */
  private static final int EXPORT_ROWS = 4096;

  private final ParameterShard shard;
  private String job;
  private TrainerId trainer;
  private boolean closed;

  public LocalShardLink(ParameterShard shard) {
    this.shard = shard;
  }

  @Override
  public String peer() {
    return "shard " + shard.index() + " in this process";
  }

  @Override
  public CompletionStage<Long> register(JobSpec job, TrainerId trainer, long step) {
    return call(() -> {
      checkOpen();
      long from = shard.register(job, trainer, step);
      this.job = job.job();
      this.trainer = trainer;
      return from;
    });
  }

  @Override
  public CompletionStage<Void> initialize(DenseValues dense) {
    return call(() -> {
      shard.initialize(registered(), trainer, dense);
      return null;
    });
  }

  @Override
  public CompletionStage<PushAck> push(Push push) {
    return answer(() -> shard.push(registered(), push));
  }

  @Override
  public CompletionStage<Pulled> pull(Pull pull) {
    return answer(() -> shard.pull(registered(), pull)).thenApply(p -> landed(pull, p));
  }

  /** Copies the dense values to where the trainer requires them, and releases the snapshot. */
  private static Pulled landed(Pull pull, Pulled pulled) {
    DenseValues seen = pulled.dense();
    if (seen == null) {
      return pulled;
    }
    DenseValues values = pull.into();
    if (values == null) {
      values = DenseMemory.of(seen.toArray());
    } else {
      pull.into().write(seen);
    }
    seen.release();
    return new Pulled(pulled.version(), values, pulled.sparse(), pulled.clockLead());
  }

  @Override
  public CompletionStage<Shrunk> shrink(long number, boolean endOfDay) {
    return answer(() -> shard.shrink(registered(), trainer, number, endOfDay));
  }

  @Override
  public CompletionStage<Void> leave(boolean succeeded) {
    return call(() -> {
      shard.leave(registered(), trainer);
      return null;
    });
  }

  @Override
  public CompletionStage<Long> digest() {
    return call(() -> shard.digest(registered()));
  }

  @Override
  public CompletionStage<Void> export(String table, RowSink sink) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    try {
      export(shard.rowCursor(registered(), table), sink, done);
    } catch (RuntimeException | Error e) {
      done.completeExceptionally(e);
    }
    return done;
  }

  /** Exports slice after slice until the sink keeps one, and resumes when it has taken it. */
  private static void export(RowCursor cursor, RowSink sink, CompletableFuture<Void> done) {
    for (SparseRows rows = cursor.next(EXPORT_ROWS); rows != null; rows = cursor.next(EXPORT_ROWS)) {
      if (rows.ids().length == 0) {
        continue;
      }
      CompletableFuture<Void> taken = sink.take(rows).toCompletableFuture();
      if (!taken.isDone() || taken.isCompletedExceptionally()) {
        taken.thenRun(() -> export(cursor, sink, done)).whenComplete((v, e) -> {
          if (e != null) {
            done.completeExceptionally(e);
          }
        });
        return;
      }
    }
    done.complete(null);
  }

  @Override
  public CompletionStage<Void> close() {
    closed = true;
    return CompletableFuture.completedFuture(null);
  }

  private void checkOpen() {
    if (closed) {
      throw new Cancelled("the link to the shard in this process is closed");
    }
  }

  private String registered() {
    checkOpen();
    if (job == null) {
      throw new InvalidInput("this link has not registered a trainer; register first");
    }
    return job;
  }

  private static <T> CompletionStage<T> call(Supplier<T> call) {
    try {
      return CompletableFuture.completedFuture(call.get());
    } catch (RuntimeException | Error e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private static <T> CompletionStage<T> answer(Supplier<CompletionStage<T>> call) {
    try {
      return call.get();
    } catch (RuntimeException | Error e) {
      return CompletableFuture.failedFuture(e);
    }
  }
}
