package io.regatta.load.run;

import io.regatta.core.dense.BlockPool;
import io.regatta.core.dense.DenseSink;
import io.regatta.core.dense.DenseValues;
import io.regatta.core.shard.JobSpec;
import io.regatta.core.shard.ParameterShard;
import io.regatta.core.shard.Pull;
import io.regatta.core.shard.Pulled;
import io.regatta.core.shard.Push;
import io.regatta.core.shard.PushAck;
import io.regatta.protocol.ShardStreamHandler;
import io.regatta.protocol.ShardStreamSession;
import io.regatta.protocol.StreamPaths;
import io.regatta.protocol.stream.LocalStreams;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.stream.TensorStreamServer;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * Core's shard behind the protocol's session, as a parameter server has it, without the rest of a node. Owned by its
 * loop.
 */
public final class ShardServer implements ShardStreamHandler {
  private final ParameterShard shard;

  private ShardServer(Loop loop) {
    shard = new ParameterShard(0, ParameterShard.Limits.defaults(), System::currentTimeMillis, loop);
  }

  /** Serves a shard of its own on a free port, and by hand in this JVM if the options say so. Blocks. */
  public static int listen(Loop loop, Vertx vertx, StreamOptions options) throws Exception {
    ShardServer server = new ShardServer(loop);
    Map<String, Handler<TensorStream>> paths = Map.of(StreamPaths.PARAMETER_SHARD,
        stream -> ShardStreamSession.serve(stream, server, options));
    return loop.call(() -> TensorStreamServer.create(vertx, options)
        .requestHandler(TensorStreamServer.handler(vertx, paths, r -> r.response().setStatusCode(404).end(), options))
        .listen(0, "127.0.0.1").map(s -> {
          LocalStreams.serve(loop.context(), "127.0.0.1", s.actualPort(), paths, options);
          return s.actualPort();
        }));
  }

  @Override
  public Future<Long> register(Origin from, JobSpec job, long step) {
    return Future.succeededFuture(shard.register(job, from.trainer(), step));
  }

  @Override
  public Future<Void> initialize(Origin from, DenseValues dense) {
    shard.initialize(from.job(), from.trainer(), dense);
    return Future.succeededFuture();
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
    return answer(done -> shard.pull(from.job(), from.trainer(), pull, done));
  }

  @Override
  public BlockPool blocks() {
    return shard.blocks();
  }

  @Override
  public Future<Void> leave(Origin from) {
    shard.leave(from.job(), from.trainer());
    return Future.succeededFuture();
  }

  @Override
  public Future<ExportCursor> export(Origin from, String table) {
    return Future.failedFuture(new UnsupportedOperationException("no driver exports"));
  }

  private static <T> Future<T> answer(Consumer<BiConsumer<T, Throwable>> call) {
    Promise<T> promise = Promise.promise();
    call.accept((value, error) -> {
      if (error != null) {
        promise.fail(error);
      } else {
        promise.complete(value);
      }
    });
    return promise.future();
  }
}
