package io.regatta.protocol.stream;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.protocol.ErrorMapping;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.streams.WriteStream;

/** The server's end of a tensor stream: reads the request's body, answers in the response's, status in the trailers. */
final class ServerTensorStream extends HttpTensorStream {
  private final HttpServerResponse response;
  private boolean closed;

  ServerTensorStream(Context context, HttpServerRequest request, StreamOptions options) {
    super(context, String.valueOf(request.remoteAddress()), options);
    response = request.response();
    response.putHeader("content-type", "application/grpc");
    response.exceptionHandler(this::lost);
    response.closeHandler(v -> {
      if (!closed) {
        closed = true;
        lost(new PeerLost("the connection with " + peer() + " was closed"));
      }
    });
    response.writeHead();
    read(request);
  }

  @Override
  WriteStream<Buffer> sink() {
    return response;
  }

  @Override
  RegattaException endStatus() {
    return null;
  }

  @Override
  public Future<Void> end() {
    return close("0", null);
  }

  @Override
  public Future<Void> fail(RegattaException error) {
    return close(Integer.toString(ErrorMapping.status(error).code), ErrorMapping.encode(String.valueOf(error.getMessage())));
  }

  private Future<Void> close(String status, String message) {
    if (closed) {
      return Future.succeededFuture();
    }
    closed = true;
    response.putTrailer("grpc-status", status);
    if (message != null) {
      response.putTrailer("grpc-message", message);
    }
    return response.end();
  }
}
