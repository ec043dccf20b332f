package io.regatta.parameterserver;

import io.regatta.core.dense.BlockPool;
import io.regatta.core.dense.DenseSink;
import io.regatta.core.dense.DenseValues;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.NotOwner;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Pulled;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.Shrunk;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.shard.ParameterShard;
import io.regatta.protocol.shard.CoreShardHandler;
import io.regatta.protocol.shard.ShardStreamHandler;
import io.vertx.core.Future;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The handler of one stream's requests to a shard. Owned by the shard's event loop. It checks that requests are
 * addressed to the shard, counts bytes, and reports the job of the stream. The end of a stream is not a loss: only the
 * rendezvous declares losses.
 */
final class ShardRequestHandler implements ShardStreamHandler {

  private final int index;
  private final long incarnation;
  private final CoreShardHandler core;
  private final ShardMetrics metrics;
  private final Consumer<JobSpec> fits;
  private final Consumer<Origin> came;
  private final Consumer<String> jobChanged;
  private final Consumer<String> registered;
  private final Runnable gone;
  private final Departures.Taker left;

  /**
   * Creates the handler of one stream.
   *
   * @param fits throws what is wrong with a job for this shard
   * @param came called when a trainer has registered, of a job that may be new
   * @param jobChanged called with a job that may be freed
   * @param registered called with the job when a trainer of it asks to register, before the answer
   * @param gone called when such a stream is over
   * @param left called with each trainer that has left
   */
  ShardRequestHandler(int index, long incarnation, ParameterShard shard, ShardMetrics metrics, Consumer<JobSpec> fits,
      Consumer<Origin> came, Consumer<String> jobChanged, Consumer<String> registered, Runnable gone,
      Departures.Taker left) {
    this.index = index;
    this.incarnation = incarnation;
    this.metrics = metrics;
    this.fits = fits;
    this.came = came;
    this.jobChanged = jobChanged;
    this.registered = registered;
    this.gone = gone;
    this.left = left;
    core = new CoreShardHandler(shard);
  }

  @Override
  public Future<Long> register(Origin from, JobSpec job, long step) {
    registered.accept(job.job());
    return ours(from, () -> {
      fits.accept(job);
      return core.register(from, job, step);
    }).map(partFrom -> {
      came.accept(from);
      return partFrom;
    });
  }

  @Override
  public Future<Void> registerAgain(Origin from) {
    registered.accept(from.job());
    return ours(from, () -> core.registerAgain(from));
  }

  @Override
  public Future<Void> initialize(Origin from, DenseValues dense) {
    metrics.received(Float.BYTES * (long) dense.size());
    return ours(from, () -> core.initialize(from, dense));
  }

  @Override
  public Future<PushAck> push(Origin from, Push push) {
    metrics.received(bytes(push.dense(), push.sparse()));
    return ours(from, () -> core.push(from, push)).map(ack -> {
      if (!ack.repeatedPush() && !push.sitsOut()) {
        metrics.pushed(ack.staleness());
      }
      return ack;
    });
  }

  @Override
  public DenseSink begin(Origin from, Push known, int denseSize) {
    checkAddress(from);
    DenseSink taker = core.begin(from, known, denseSize);
    if (taker != null) {
      metrics.received(Float.BYTES * (long) denseSize);
    }
    return taker;
  }

  @Override
  public boolean isRepeated(Origin from, Push known) {
    return core.isRepeated(from, known);
  }

  @Override
  public Future<Pulled> pull(Origin from, Pull pull) {
    return ours(from, () -> core.pull(from, pull)).map(pulled -> {
      metrics.pulled(bytes(pulled.dense(), pulled.sparse()));
      return pulled;
    });
  }

  @Override
  public BlockPool blocks() {
    return core.blocks();
  }

  @Override
  public Future<Shrunk> shrink(Origin from, long number, boolean endOfDay) {
    return ours(from, () -> core.shrink(from, number, endOfDay));
  }

  @Override
  public Future<Void> leave(Origin from, boolean succeeded) {
    return ours(from, () -> core.leave(from, succeeded)).map(ended -> {
      left.left(from.job(), from.trainer().rank(), succeeded);
      jobChanged.accept(from.job());
      return null;
    });
  }

  @Override
  public Future<ExportCursor> export(Origin from, String table) {
    return ours(from, () -> core.export(from, table));
  }

  @Override
  public void closed(Origin from) {
    core.closed(from);
    gone.run();
  }

  private <T> Future<T> ours(Origin from, Supplier<Future<T>> request) {
    try {
      checkAddress(from);
      return request.get();
    } catch (RegattaException e) {
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
          + ": it was restarted without its state; read the shard map again and restart the job");
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
