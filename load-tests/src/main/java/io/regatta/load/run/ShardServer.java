package io.regatta.load.run;

import io.regatta.core.memory.ShardLimits;
import io.regatta.core.shard.ParameterShard;
import io.regatta.load.process.WorkerLoop;
import io.regatta.protocol.call.GrpcCalls;
import io.regatta.protocol.shard.CoreShardHandler;
import io.regatta.protocol.shard.ShardStreamSession;
import io.regatta.protocol.stream.LocalStreams;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.StreamPaths;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.stream.TensorStreamServer;
import io.regatta.protocol.vertx.SystemClock;
import io.regatta.protocol.vertx.VertxLoop;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import java.util.Map;

/** Core's shard with the protocol's sessions, without the rest of a parameter server. Stateless. */
public final class ShardServer {

  private ShardServer() {}

  /** Serves a shard of this loop on a free port, and in-process in this JVM if the options allow it. Blocks. */
  public static int listen(WorkerLoop loop, Vertx vertx, StreamOptions options) throws Exception {
    ParameterShard shard = new ParameterShard(0, ShardLimits.defaults(), SystemClock.get(), loop);
    Map<String, Handler<TensorStream>> paths = Map.of(StreamPaths.PARAMETER_SHARD,
        stream -> ShardStreamSession.serve(stream, new CoreShardHandler(shard), options));
    return loop.call(() -> TensorStreamServer.create(vertx, options)
        .requestHandler(TensorStreamServer.handler(vertx, paths, new GrpcCalls(vertx), options))
        .listen(0, "127.0.0.1").map(s -> {
          LocalStreams.serve(VertxLoop.of(loop.context()), "127.0.0.1", s.actualPort(), paths, options);
          return s.actualPort();
        }));
  }
}
