package io.regatta.load.collective;

import io.regatta.collective.CollectiveAggregator;
import io.regatta.collective.CollectiveOptions;
import io.regatta.load.process.WorkerLoop;
import io.regatta.node.address.ServicePort;
import io.regatta.node.admin.Waits;
import io.regatta.protocol.call.GrpcCalls;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.StreamPaths;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.stream.TensorStreamServer;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import java.util.Map;

/** The all-reducing part of a gradient aggregator, without a cluster. Owned by its event loop. */
final class AggregatorPort extends VerticleBase {
  private static final long MAX_BYTES = 1L << 30;

  private CollectiveAggregator sums;
  private ServicePort port;

  private AggregatorPort() {}

  /** Listens until the process ends; returns {@code host:port}. */
  static String listen(Vertx vertx) throws Exception {
    AggregatorPort aggregator = new AggregatorPort();
    WorkerLoop.await(vertx.deployVerticle(aggregator));
    return "127.0.0.1:" + aggregator.port.port();
  }

  @Override
  public Future<?> start() {
    StreamOptions streams = StreamOptions.defaults();
    Map<String, Handler<TensorStream>> paths = Map.of(StreamPaths.COLLECTIVE, opened -> sums.accept(opened));
    return ServicePort.listenForStreams(vertx, at -> TensorStreamServer.create(vertx, at).requestHandler(
        TensorStreamServer.handler(vertx, paths, new GrpcCalls(vertx), streams)),
        "127.0.0.1", 0, "an aggregator", "port", streams, "127.0.0.1").onSuccess(listening -> {
          port = listening;
          sums = new CollectiveAggregator(context, "127.0.0.1:" + port.port(), CollectiveOptions.defaults(), new Waits(), 1, MAX_BYTES);
        });
  }
}
