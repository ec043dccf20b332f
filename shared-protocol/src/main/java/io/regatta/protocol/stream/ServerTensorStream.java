package io.regatta.protocol.stream;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.protocol.error.ErrorMapping;
import io.regatta.protocol.vertx.VertxLoop;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.net.SocketAddress;
import io.vertx.core.streams.WriteStream;
import io.vertx.grpc.common.GrpcStatus;

/**
 * The server's end of a tensor stream: reads the request's body, answers in the response's; the status is in the
 * trailers.
 */
final class ServerTensorStream extends HttpTensorStream {
  private final HttpServerResponse response;
  private boolean ended;

  ServerTensorStream(VertxLoop loop, HttpServerRequest request, StreamOptions options) {
    super(loop, request.connection(), caller(request.remoteAddress()), options);
    response = request.response();
    response.putHeader("content-type", "application/grpc");
    memory().peer(request.getHeader(SharedPayloads.HEADER));
    if (memory().isAllowed()) {
      response.putHeader(SharedPayloads.HEADER, SharedPayloads.HEADER_VALUE);
    }
    response.exceptionHandler(this::broken);
    response.closeHandler(v -> broken(new PeerLost("the connection with " + peer() + " was closed")));
    if (request.getHeader("content-length") == null) { // with one, the HTTP/2 handler wants to count what comes
      takeLane(request.streamId());
    }
    response.writeHead().onFailure(this::broken);
    read(request);
  }

  /**
   * Returns the caller for messages. On a Unix domain socket the address is the path at which this server listens, and
   * not the caller's.
   */
  private static String caller(SocketAddress address) {
    return address != null && address.isDomainSocket() ? "a process of this machine" : String.valueOf(address);
  }

  @Override
  void broken(Throwable cause) {
    if (!ended) {
      ended = true;
      lost(cause);
    }
  }

  @Override
  WriteStream<Buffer> sink() {
    return response;
  }

  @Override
  boolean sinkEnded() {
    return ended;
  }

  @Override
  RegattaException endStatus() {
    return null; // A client that half-closes sends no status.
  }

  @Override
  public Future<Void> end() {
    giveUp();
    return close(GrpcStatus.OK, null);
  }

  @Override
  Future<Void> close(GrpcStatus status, String message) {
    if (ended) {
      return Future.succeededFuture();
    }
    ended = true;
    response.putTrailer("grpc-status", Integer.toString(status.code));
    if (message != null) {
      response.putTrailer("grpc-message", ErrorMapping.encode(message));
    }
    return response.end();
  }
}
