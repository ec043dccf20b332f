package io.regatta.parameterserver;

import io.regatta.core.dense.BlockPool;
import io.regatta.core.dense.DenseSink;
import io.regatta.core.dense.DenseValues;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.NotOwner;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.shard.JobSpec;
import io.regatta.core.shard.ParameterShard;
import io.regatta.core.shard.Pull;
import io.regatta.core.shard.Pulled;
import io.regatta.core.shard.Push;
import io.regatta.core.shard.PushAck;
import io.regatta.core.shard.RowCursor;
import io.regatta.core.shard.SparseRows;
import io.regatta.protocol.ShardStreamHandler;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * One stream's requests, handed to the shard: checks to whom they are addressed, counts bytes, and takes its parked
 * pulls back when the stream is gone. A stream that ends is no loss: only the rendezvous declares those. Owned by the
 * shard's event loop.
 */
final class ShardStreams implements ShardStreamHandler {

  /** Bytes of a slice of an export: about a millisecond of work. */
  private static final int EXPORT_SLICE_BYTES = 1 << 20;

  private final int index;
  private final long incarnation;
  private final ParameterShard shard;
  private final ShardMetrics metrics;
  private final Consumer<String> jobChanged;
  private final Consumer<String> registered;
  private final Runnable gone;
  private final Set<BiConsumer<Pulled, Throwable>> waiting = new HashSet<>();

  /**
   * @param jobChanged told of a job that may be new, or freed
   * @param registered told the job when the stream has a trainer of it
   * @param gone called when such a stream is over
   */
  ShardStreams(int index, long incarnation, ParameterShard shard, ShardMetrics metrics, Consumer<String> jobChanged,
      Consumer<String> registered, Runnable gone) {
    this.index = index;
    this.incarnation = incarnation;
    this.shard = shard;
    this.metrics = metrics;
    this.jobChanged = jobChanged;
    this.registered = registered;
    this.gone = gone;
  }

  @Override
  public Future<Long> register(Origin from, JobSpec job, long step) {
    registered.accept(job.job());
    long[] partFrom = new long[1];
    return run(from, () -> {
      partFrom[0] = shard.register(job, from.trainer(), step);
      jobChanged.accept(job.job());
    }).map(v -> partFrom[0]);
  }

  @Override
  public Future<Void> registerAgain(Origin from) {
    registered.accept(from.job());
    return run(from, () -> shard.registerAgain(from.job(), from.trainer()));
  }

  @Override
  public Future<Void> initialize(Origin from, DenseValues dense) {
    metrics.received(Float.BYTES * (long) dense.size());
    return run(from, () -> shard.initialize(from.job(), from.trainer(), dense));
  }

  @Override
  public Future<PushAck> push(Origin from, Push push) {
    metrics.received(bytes(push.dense(), push.sparse()));
    Promise<PushAck> promise = Promise.promise();
    return run(from, () -> shard.push(from.job(), push, (ack, error) -> {
      if (error != null) {
        promise.fail(error);
      } else {
        if (!ack.repeatedPush() && !push.sitsOut()) {
          metrics.pushed(ack.staleness());
        }
        promise.complete(ack);
      }
    })).compose(v -> promise.future());
  }

  @Override
  public DenseSink begin(Origin from, Push known, int denseSize) {
    checkAddress(from);
    DenseSink taker = shard.begin(from.job(), known, denseSize);
    if (taker != null) {
      metrics.received(Float.BYTES * (long) denseSize);
    }
    return taker;
  }

  @Override
  public Future<Pulled> pull(Origin from, Pull pull) {
    Promise<Pulled> promise = Promise.promise();
    BiConsumer<Pulled, Throwable> done = new BiConsumer<>() {
      @Override
      public void accept(Pulled pulled, Throwable error) {
        waiting.remove(this);
        if (error != null) {
          promise.fail(error);
        } else {
          metrics.pulled(bytes(pulled.dense(), pulled.sparse()));
          promise.complete(pulled);
        }
      }
    };
    return run(from, () -> {
      if (pull.rank() != from.trainer().rank()) {
        throw new InvalidInput("a pull of trainer " + from.trainer().rank() + " names rank " + pull.rank());
      }
      waiting.add(done);
      shard.pull(from.job(), from.trainer(), pull, done);
    }).compose(v -> promise.future());
  }

  @Override
  public BlockPool blocks() {
    return shard.blocks();
  }

  @Override
  public Future<Void> leave(Origin from) {
    return run(from, () -> {
      shard.leave(from.job(), from.trainer());
      jobChanged.accept(from.job());
    });
  }

  @Override
  public Future<ExportCursor> export(Origin from, String table) {
    RowCursor[] cursor = new RowCursor[1];
    return run(from, () -> cursor[0] = shard.rowCursor(from.job(), table)).map(v -> {
      int rowBytes = Long.BYTES + Float.BYTES * cursor[0].dim();
      int rows = Math.max(1, EXPORT_SLICE_BYTES / rowBytes);
      return () -> cursor[0].next(rows);
    });
  }

  @Override
  public void closed(Origin from) {
    waiting.forEach(done -> shard.withdraw(from.job(), done));
    waiting.clear();
    gone.run();
  }

  private Future<Void> run(Origin from, Runnable request) {
    try {
      checkAddress(from);
      request.run();
      return Future.succeededFuture();
    } catch (RuntimeException | Error e) { // a defect, or no memory: the peer is told and the loop goes on
      return Future.failedFuture(e);
    }
  }

  private void checkAddress(Origin from) {
    if (from.shard() != index) {
      throw new NotOwner("a message of trainer " + from.trainer().rank() + " of job " + from.job() + " for shard "
          + from.shard() + " came to shard " + index + "; read the shard map again");
    }
    if (from.shardIncarnation() != 0 && from.shardIncarnation() != incarnation) {
      throw new StaleGeneration("trainer " + from.trainer().rank() + " of job " + from.job() + " talks to incarnation "
          + from.shardIncarnation() + " of shard " + index + ", which is now " + incarnation
          + ": it was started anew without what it held; read the shard map again and restart the job");
    }
  }

  private static long bytes(DenseValues dense, List<SparseRows> sparse) {
    long bytes = dense == null ? 0 : Float.BYTES * (long) dense.size();
    for (SparseRows r : sparse) {
      bytes += Long.BYTES * (long) r.ids().length + Float.BYTES * (long) r.values().length;
    }
    return bytes;
  }
}
