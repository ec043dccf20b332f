package io.regatta.load.small;

import io.regatta.load.process.PortServer;
import io.regatta.load.process.WorkerLoop;
import io.regatta.protocol.parameterserver.ParameterShardGrpcService;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.grpc.server.GrpcServer;

/** The process of a bidi stream of Vert.x's gRPC that sends every message back. */
final class EchoServer extends PortServer {

  EchoServer() throws Exception {
    super(EchoServer::listen);
  }

  private static int listen(Vertx vertx) throws Exception {
    GrpcServer echo = GrpcServer.server(vertx);
    echo.callHandler(ParameterShardGrpcService.Exchange, request -> {
      request.handler(message -> request.response().write(message));
      request.endHandler(v -> request.response().end());
    });
    return WorkerLoop.on(vertx).call(() -> vertx.createHttpServer(new HttpServerOptions().setTcpNoDelay(true))
        .requestHandler(echo).listen(0, "127.0.0.1")).actualPort();
  }
}
