package io.regatta.protocol;

import io.regatta.core.dense.BlockPool;
import io.regatta.core.dense.DenseSink;
import io.regatta.core.dense.DenseValues;
import io.regatta.core.shard.JobSpec;
import io.regatta.core.shard.ParameterShard;
import io.regatta.core.shard.Pull;
import io.regatta.core.shard.Pulled;
import io.regatta.core.shard.Push;
import io.regatta.core.shard.PushAck;
import io.regatta.core.shard.RowCursor;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/** The thinnest server: core's shard behind a session. */
record CoreShardHandler(ParameterShard shard) implements ShardStreamHandler {

  @Override
  public Future<Long> register(Origin from, JobSpec job, long step) {
    long[] partFrom = new long[1];
    return run(() -> partFrom[0] = shard.register(job, from.trainer(), step)).map(v -> partFrom[0]);
  }

  @Override
  public Future<Void> registerAgain(Origin from) {
    return run(() -> shard.registerAgain(from.job(), from.trainer()));
  }

  @Override
  public Future<Void> initialize(Origin from, DenseValues dense) {
    return run(() -> shard.initialize(from.job(), from.trainer(), dense));
  }

  @Override
  public Future<PushAck> push(Origin from, Push push) {
    return answer(done -> shard.push(from.job(), push, done));
  }

  @Override
  public DenseSink begin(Origin from, Push known, int denseSize) {
    return shard.begin(from.job(), known, denseSize);
  }

  @Override
  public Future<Pulled> pull(Origin from, Pull pull) {
    return answer(done -> shard.pull(from.job(), pull, done));
  }

  @Override
  public BlockPool blocks() {
    return shard.blocks();
  }

  @Override
  public Future<Void> leave(Origin from) {
    return run(() -> shard.leave(from.job(), from.trainer()));
  }

  @Override
  public Future<ExportCursor> export(Origin from, String table) {
    RowCursor cursor = shard.rowCursor(from.job(), table);
    return Future.succeededFuture(() -> cursor.next(100));
  }

  private static Future<Void> run(Runnable call) {
    try {
      call.run();
      return Future.succeededFuture();
    } catch (RuntimeException e) {
      return Future.failedFuture(e);
    }
  }

  private static <T> Future<T> answer(Consumer<BiConsumer<T, Throwable>> call) {
    Promise<T> p = Promise.promise();
    call.accept((value, error) -> {
      if (error != null) {
        p.fail(error);
      } else {
        p.complete(value);
      }
    });
    return p.future();
  }
}
