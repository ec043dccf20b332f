package io.regatta.load.codec;

import io.regatta.core.dense.DenseValues;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Pulled;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.protocol.shard.ShardStreamHandler;
import io.vertx.core.Future;

/** A handler that acknowledges pushes at once and applies nothing. For one thread. */
public final class NoShard implements ShardStreamHandler {
  private static final PushAck ACK = new PushAck(1, 0, false, false);
  private Push last;

  /** Returns the last push; its dense gradient has been released. */
  public Push last() {
    return last;
  }

  @Override
  public Future<Long> register(Origin from, JobSpec job, long step) {
    return Future.succeededFuture(0L);
  }

  @Override
  public Future<Void> registerAgain(Origin from) {
    return Future.succeededFuture();
  }

  @Override
  public Future<Void> initialize(Origin from, DenseValues dense) {
    return Future.succeededFuture();
  }

  @Override
  public Future<PushAck> push(Origin from, Push push) {
    last = push;
    push.release();
    return Future.succeededFuture(ACK);
  }

  @Override
  public Future<Pulled> pull(Origin from, Pull pull) {
    return Future.failedFuture("nothing to pull");
  }

  @Override
  public Future<Void> leave(Origin from, boolean succeeded) {
    return Future.succeededFuture();
  }

  @Override
  public Future<ExportCursor> export(Origin from, String table) {
    return Future.failedFuture("nothing to export");
  }
}
