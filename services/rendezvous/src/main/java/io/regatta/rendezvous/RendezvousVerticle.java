package io.regatta.rendezvous;

import io.regatta.node.FiniteService;
import io.regatta.node.Node;
import io.regatta.node.address.ServicePort;
import io.regatta.protocol.call.GrpcCalls;
import io.regatta.protocol.stream.Liveness;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.TensorStreamServer;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.Http2Settings;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;

/**
 * The rendezvous with a port of its own: a {@link RendezvousService} on this verticle's event loop. It has started when
 * it listens and stands in the directory, and stopped when all waiting callers have been notified.
 */
public final class RendezvousVerticle extends VerticleBase implements FiniteService {
  /** Calls that may wait on one connection: a process may host many members. */
  private static final int STREAMS_PER_CONNECTION = 10_000;
  private static final long SHUTDOWN_MILLIS = 1000;

  private final Node node;
  private final RendezvousConfig config;
  private final RendezvousService service;
  private ServicePort port;

  /** Creates a rendezvous on the node's host; deploy one instance. */
  public RendezvousVerticle(Node node, RendezvousConfig config) {
    this.node = node;
    this.config = config;
    service = new RendezvousService(node, config);
  }

  /** Never completes, unless its configuration's lifetime is that of a job. */
  @Override
  public Future<String> finished() {
    return service.finished();
  }

  /** Returns the port that it serves on, once started. */
  public int port() {
    return port.port();
  }

  @Override
  public Future<?> start() {
    GrpcCalls calls = new GrpcCalls(vertx);
    service.begin(context, calls);
    Handler<HttpServerRequest> all = TensorStreamServer.withOpenHealth(calls, calls, node.security());
    HttpServerOptions options = new HttpServerOptions().setTcpKeepAlive(true)
        .setInitialSettings(new Http2Settings().setMaxConcurrentStreams(STREAMS_PER_CONNECTION));
    return ServicePort.listen(vertx, () -> Liveness.guard(vertx, node.security().server(vertx, options),
            StreamOptions.defaults()).requestHandler(all), node.bind(), config.port(), "the rendezvous",
            "rendezvous.port")
        .onFailure(service::failed)
        .compose(listening -> {
          port = listening;
          return service.listens(port());
        })
        .recover(e -> stop().transform(stopped -> Future.failedFuture(e)));
  }

  /** Returns the port of gloo's key-value server, once started, see {@link RendezvousService#glooPort}. */
  public int glooPort() {
    return service.glooPort();
  }

  /** Returns the port of launch's key-value server, once started, see {@link RendezvousService#launchPort}. */
  public int launchPort() {
    return service.launchPort();
  }

  /**
   * Waits until no group here has a member any more, for a process that ends with its job: each member leaves, or its
   * lease ends. After a moment a line names the remaining members. Any thread.
   */
  public Future<Void> idle() {
    return service.idle();
  }

  @Override
  public Future<?> stop() {
    return service.end()
        .transform(done -> port == null ? Future.succeededFuture() : port.shutdown(SHUTDOWN_MILLIS));
  }
}
