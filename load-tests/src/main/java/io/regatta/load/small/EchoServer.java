package io.regatta.load.small;

import io.regatta.load.run.Loop;
import io.regatta.load.run.Task;
import io.regatta.node.process.PlainVertx;
import io.regatta.protocol.parameterserver.ParameterShardGrpcService;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.json.JsonObject;
import io.vertx.grpc.server.GrpcServer;

/** The process of a bidi stream of Vert.x's gRPC that sends every message back. */
final class EchoServer implements Task {
  private final Vertx vertx = Vertx.vertx(PlainVertx.options());
  private final int port;

  EchoServer() throws Exception {
    GrpcServer echo = GrpcServer.server(vertx);
    echo.callHandler(ParameterShardGrpcService.Exchange, request -> {
      request.handler(message -> request.response().write(message));
      request.endHandler(v -> request.response().end());
    });
    port = Loop.on(vertx).call(() -> vertx.createHttpServer(new HttpServerOptions().setTcpNoDelay(true))
        .requestHandler(echo).listen(0, "127.0.0.1")).actualPort();
  }

  @Override
  public JsonObject ready() {
    return new JsonObject().put("port", port);
  }

  @Override
  public JsonObject run(JsonObject command) {
    throw new IllegalArgumentException("a server only serves: " + command);
  }

  @Override
  public void close() {
    vertx.close();
  }
}
