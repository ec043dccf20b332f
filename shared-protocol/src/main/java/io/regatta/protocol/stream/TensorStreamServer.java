package io.regatta.protocol.stream;

import io.regatta.protocol.call.GrpcCalls;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.vertx.VertxLoop;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import java.util.Map;
import java.util.Set;

/** A factory of servers of tensor streams and ordinary gRPC calls on one HTTP/2 port. */
public final class TensorStreamServer {

  private static final Set<String> HEALTH = Set.of("/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/Watch");

  private TensorStreamServer() {}

  /**
   * Creates an HTTP server with the options' windows and frame sizes, which closes connections whose peer does not
   * answer PINGs. It has no request handler yet and does not listen. Its connection handler is taken. With TLS if the
   * options have it.
   */
  public static HttpServer create(Vertx vertx, StreamOptions options) {
    return options.security().server(vertx, options.serverOptions()).connectionHandler(connection -> {
      Liveness.guard(vertx, connection, options);
      options.lane(connection);
    });
  }

  /**
   * Returns a handler that passes requests to one of these paths to its stream handler, all others to the control
   * calls. Requests without the options' token are refused, except probes, see {@link #withOpenHealth}.
   *
   * @param streams full method name, e.g. {@code /regatta.ParameterShard/Exchange}, to the handler of the stream; it
   *     sets the stream's handlers, the one for frames last
   * @param control everything else
   */
  public static Handler<HttpServerRequest> handler(Vertx vertx, Map<String, Handler<TensorStream>> streams,
      GrpcCalls control, StreamOptions options) {
    Map<String, Handler<TensorStream>> paths = Map.copyOf(streams);
    return withOpenHealth(control, request -> {
      Handler<TensorStream> taker = paths.get(request.path());
      if (taker != null && GrpcCalls.isGrpc(request) && !GrpcCalls.isCompressed(request)) {
        taker.handle(new ServerTensorStream(VertxLoop.current(vertx), request, options));
      } else {
        control.handle(request);
      }
    }, options.security());
  }

  /**
   * Returns a handler that admits calls of gRPC's health service without the token: schedulers' probes cannot show one,
   * and learn only whether a service is ready.
   *
   * @param health has the health service
   * @param others everything else, from callers that show the token
   */
  public static Handler<HttpServerRequest> withOpenHealth(GrpcCalls health, Handler<HttpServerRequest> others,
      PeerSecurity security) {
    Handler<HttpServerRequest> guarded = security.guard(others);
    Handler<HttpServerRequest> open = security.open(health);
    return request -> (HEALTH.contains(String.valueOf(request.path())) && GrpcCalls.isGrpc(request) ? open : guarded)
        .handle(request);
  }
}
