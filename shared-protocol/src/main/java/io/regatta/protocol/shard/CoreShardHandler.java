package io.regatta.protocol.shard;

import io.regatta.core.dense.BlockPool;
import io.regatta.core.dense.DenseSink;
import io.regatta.core.dense.DenseValues;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Pulled;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.Shrunk;
import io.regatta.core.shard.ParameterShard;
import io.regatta.core.shard.RowCursor;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.HashSet;
import java.util.Set;
import java.util.function.BiConsumer;

/**
 * The adapter from one stream's session to core's shard: it passes the requests on and makes futures of the answers.
 * One for each stream; owned by the shard's event loop, on which the stream's calls are made. It owns the stream's
 * pulls that wait at the shard, and withdraws them when the stream is over. Any exception of the shard, lack of memory
 * included, becomes a failed future, so that the peer gets it and the loop continues. The exception is {@link #begin},
 * whose caller the session answers.
 */
public final class CoreShardHandler implements ShardStreamHandler {

  /** Bytes of a slice of an export: about a millisecond of work. */
  private static final int EXPORT_SLICE_BYTES = 1 << 20;

  private final ParameterShard shard;
  private final Set<BiConsumer<Pulled, Throwable>> waiting = new HashSet<>();

  /** @param shard of this loop; other streams may have handlers of their own for it */
  public CoreShardHandler(ParameterShard shard) {
    this.shard = shard;
  }

  @Override
  public Future<Long> register(Origin from, JobSpec job, long step) {
    Promise<Long> partFrom = Promise.promise();
    return asked(partFrom, () -> partFrom.complete(shard.register(job, from.trainer(), step)));
  }

  @Override
  public Future<Void> registerAgain(Origin from) {
    return done(() -> shard.registerAgain(from.job(), from.trainer()));
  }

  @Override
  public Future<Void> initialize(Origin from, DenseValues dense) {
    return done(() -> shard.initialize(from.job(), from.trainer(), dense));
  }

  @Override
  public Future<PushAck> push(Origin from, Push push) {
    Promise<PushAck> answer = Promise.promise();
    return asked(answer, () -> shard.push(from.job(), push, (ack, error) -> complete(answer, ack, error)));
  }

  @Override
  public DenseSink begin(Origin from, Push known, int denseSize) {
    return shard.begin(from.job(), known, denseSize);
  }

  @Override
  public boolean isRepeated(Origin from, Push known) {
    return shard.isRepeated(from.job(), known);
  }

  @Override
  public Future<Pulled> pull(Origin from, Pull pull) {
    Promise<Pulled> answer = Promise.promise();
    BiConsumer<Pulled, Throwable> waiter = new BiConsumer<>() {
      @Override
      public void accept(Pulled pulled, Throwable error) {
        waiting.remove(this);
        complete(answer, pulled, error);
      }
    };
    return asked(answer, () -> {
      if (pull.rank() != from.trainer().rank()) {
        throw new InvalidInput("a pull of trainer " + from.trainer().rank() + " names rank " + pull.rank());
      }
      waiting.add(waiter);
      shard.pull(from.job(), from.trainer(), pull, waiter);
    });
  }

  @Override
  public BlockPool blocks() {
    return shard.blocks();
  }

  @Override
  public Future<Shrunk> shrink(Origin from, long number, boolean endOfDay) {
    Promise<Shrunk> answer = Promise.promise();
    return asked(answer, () -> shard.shrink(from.job(), from.trainer(), number, endOfDay,
        (shrunk, error) -> complete(answer, shrunk, error)));
  }

  @Override
  public Future<Void> leave(Origin from, boolean succeeded) {
    return done(() -> shard.leave(from.job(), from.trainer()));
  }

  @Override
  public Future<ExportCursor> export(Origin from, String table) {
    Promise<ExportCursor> slices = Promise.promise();
    return asked(slices, () -> {
      RowCursor cursor = shard.rowCursor(from.job(), table);
      int rows = Math.max(1, EXPORT_SLICE_BYTES / (Long.BYTES + Float.BYTES * cursor.dim()));
      slices.complete(() -> cursor.next(rows));
    });
  }

  @Override
  public void closed(Origin from) {
    waiting.forEach(pull -> shard.withdraw(from.job(), pull));
    waiting.clear();
  }

  private static <T> void complete(Promise<T> answer, T value, Throwable error) {
    if (error != null) {
      answer.fail(error);
    } else {
      answer.complete(value);
    }
  }

  private static Future<Void> done(Runnable request) {
    Promise<Void> answer = Promise.promise();
    return asked(answer, () -> {
      request.run();
      answer.complete();
    });
  }

  private static <T> Future<T> asked(Promise<T> answer, Runnable request) {
    try {
      request.run();
    } catch (RuntimeException | Error e) {
      answer.tryFail(e);
    }
    return answer.future();
  }
}
