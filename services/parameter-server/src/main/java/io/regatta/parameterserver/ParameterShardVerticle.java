package io.regatta.parameterserver;

import io.regatta.node.Node;
import io.regatta.node.address.ServicePort;
import io.regatta.protocol.call.GrpcCalls;
import io.regatta.protocol.parameterserver.Shard;
import io.regatta.protocol.parameterserver.ShardStatus;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.StreamPaths;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.stream.TensorStreamServer;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.VerticleBase;
import java.util.Map;

/**
 * A shard of a server other than its first: a {@link ShardService} on its own event loop and port. Its start completes
 * when it listens, its stop when every stream has been notified. {@link #status}, {@link #place} and {@link #isServing}
 * may be called on any thread.
 */
final class ParameterShardVerticle extends VerticleBase {

  private static final long SHUTDOWN_MILLIS = 500;

  private final Node node;
  private final ParameterServerConfig config;
  private final int index;
  private final int wantedPort;
  private final long incarnation;
  private final JobListener jobs;
  private ShardService shard;
  private ServicePort port;

  /**
   * Creates a shard.
   *
   * @param index global
   * @param port to listen on, 0 for any
   * @param incarnation sent to clients, so that they notice a restart
   */
  ParameterShardVerticle(Node node, ParameterServerConfig config, int index, int port, long incarnation,
      JobListener jobs) {
    this.node = node;
    this.config = config;
    this.index = index;
    this.wantedPort = port;
    this.incarnation = incarnation;
    this.jobs = jobs;
  }

  @Override
  public Future<?> start() {
    shard = new ShardService(node, context, config, index, incarnation, jobs);
    StreamOptions options = node.streams(config.stream().options());
    GrpcCalls calls = new GrpcCalls(vertx);
    ShardService.bind(calls, () -> shard, shard::isServing);
    Map<String, Handler<TensorStream>> paths = Map.of(StreamPaths.PARAMETER_SHARD, shard::serve);
    return ServicePort.listenForStreams(vertx, at -> TensorStreamServer.create(vertx, at)
            .requestHandler(TensorStreamServer.handler(vertx, paths, calls, options)), node.bind(), wantedPort,
            "shard " + index, ParameterServerVerticle.PORT_KEY, options, node.host())
        .onFailure(e -> shard.stop()) // a verticle that did not start is not stopped; its server says why
        .onSuccess(listening -> {
          port = listening;
          shard.listens(port.port(), paths);
        });
  }

  /** Returns true while this shard serves, once started. Any thread. */
  boolean isServing() {
    return shard.isServing();
  }

  /** Returns the address of this shard, once started. */
  Shard place() {
    return shard.place();
  }

  /** Returns the jobs of this shard; completes on its event loop. */
  Future<ShardStatus> status(String job) {
    return shard.status(job);
  }

  @Override
  public Future<?> stop() {
    Future<Void> written = shard.stop();
    return port.shutdown(SHUTDOWN_MILLIS).eventually(() -> written);
  }
}
