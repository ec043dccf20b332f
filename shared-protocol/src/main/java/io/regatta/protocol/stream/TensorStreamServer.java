package io.regatta.protocol.stream;

import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import java.util.Map;
import java.util.Set;

/** Serves tensor streams and ordinary gRPC calls on one HTTP/2 port. */
public final class TensorStreamServer {

  private static final Set<String> HEALTH = Set.of("/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/Watch");

  private TensorStreamServer() {}

  /**
   * An HTTP server with the options' windows and frame sizes, which closes connections whose peer gives no sign of life;
   * it has no request handler yet and does not listen. Its connection handler is taken. With TLS if the options have it.
   */
  public static HttpServer create(Vertx vertx, StreamOptions options) {
    return options.security().server(vertx, options.serverOptions()).connectionHandler(connection -> {
      Liveness.guard(vertx, connection, options);
      options.lane(connection);
    });
  }

  /**
   * Sends requests to one of these paths to its stream handler, all others on to the control calls. Those without the options' token
   * are refused.
   *
   * @param streams full method name, e.g. {@code /regatta.ParameterShard/Exchange}, to the one who takes the stream; it
   *     sets the stream's handlers, the one for frames last
   * @param control everything else; a {@code GrpcServer}
   */
  public static Handler<HttpServerRequest> handler(Vertx vertx, Map<String, Handler<TensorStream>> streams,
      Handler<HttpServerRequest> control, StreamOptions options) {
    Map<String, Handler<TensorStream>> paths = Map.copyOf(streams);
    return options.security().guard(request -> {
      Handler<TensorStream> taker = paths.get(request.path());
      if (taker != null && isGrpc(request)) {
        taker.handle(new ServerTensorStream(vertx.getOrCreateContext(), request, options));
      } else {
        control.handle(request);
      }
    });
  }

  /**
   * Lets calls of gRPC's health service past the token, for a port that has the service: probes of schedulers can show nothing, and
   * learn nothing but whether it is ready.
   *
   * @param health to which the health service is bound
   * @param others who looks at the token, for everything else
   */
  public static Handler<HttpServerRequest> withOpenHealth(Handler<HttpServerRequest> health, Handler<HttpServerRequest> others) {
    return request -> (HEALTH.contains(String.valueOf(request.path())) && isGrpc(request) ? health : others).handle(request);
  }

  private static boolean isGrpc(HttpServerRequest request) {
    String type = request.getHeader("content-type");
    return request.version() == HttpVersion.HTTP_2 && request.method() == HttpMethod.POST && type != null
        && type.matches("application/grpc([+;].*)?");
  }
}
