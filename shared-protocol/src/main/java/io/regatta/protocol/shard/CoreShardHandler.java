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
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

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
  private final Set<CompletionStage<Pulled>> waiting = new HashSet<>();

  /** @param shard of this loop; other streams may have handlers of their own for it */
  public CoreShardHandler(ParameterShard shard) {
    this.shard = shard;
  }

  @Override
  public Future<Long> register(Origin from, JobSpec job, long step) {
    return asked(() -> Future.succeededFuture(shard.register(job, from.trainer(), step)));
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
    return asked(() -> Future.fromCompletionStage(shard.push(from.job(), push)));
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
    return asked(() -> {
      if (pull.rank() != from.trainer().rank()) {
        throw new InvalidInput("a pull of trainer " + from.trainer().rank() + " names rank " + pull.rank());
      }
      CompletionStage<Pulled> asked = shard.pull(from.job(), from.trainer(), pull);
      waiting.add(asked);
      Promise<Pulled> answer = Promise.promise();
      asked.whenComplete((pulled, error) -> {
        waiting.remove(asked);
        if (error != null) {
          answer.fail(error);
        } else {
          answer.complete(pulled);
        }
      });
      return answer.future();
    });
  }

  @Override
  public BlockPool blocks() {
    return shard.blocks();
  }

  @Override
  public Future<Shrunk> shrink(Origin from, long number, boolean endOfDay) {
    return asked(() -> Future.fromCompletionStage(shard.shrink(from.job(), from.trainer(), number, endOfDay)));
  }

  @Override
  public Future<Void> leave(Origin from, boolean succeeded) {
    return done(() -> shard.leave(from.job(), from.trainer()));
  }

  @Override
  public Future<ExportCursor> export(Origin from, String table) {
    return asked(() -> {
      RowCursor cursor = shard.rowCursor(from.job(), table);
      int rows = Math.max(1, EXPORT_SLICE_BYTES / (Long.BYTES + Float.BYTES * cursor.dim()));
      return Future.succeededFuture(() -> cursor.next(rows));
    });
  }

  @Override
  public void closed(Origin from) {
    List<CompletionStage<Pulled>> gone = List.copyOf(waiting); // the room of one may let the next be answered
    waiting.clear();
    gone.forEach(pull -> shard.withdraw(from.job(), pull));
  }

  private static Future<Void> done(Runnable request) {
    return asked(() -> {
      request.run();
      return Future.succeededFuture();
    });
  }

  private static <T> Future<T> asked(Supplier<Future<T>> request) {
    try {
      return request.get();
    } catch (RuntimeException | Error e) {
      return Future.failedFuture(e);
    }
  }
}
