package io.regatta.protocol.stream;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.protocol.error.ErrorMapping;
import io.regatta.protocol.vertx.VertxLoop;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.streams.WriteStream;
import io.vertx.grpc.common.GrpcStatus;

/**
 * The client's end of a tensor stream: writes the request's body, reads the response's; the status is in the trailers.
 */
final class ClientTensorStream extends HttpTensorStream {
  /** HTTP/2 error code CANCEL. */
  private static final long CANCEL = 8;

  /** Kept, because an HTTP client that nobody refers to is closed. */
  private final TensorStreamClient client;
  private final HttpClientRequest request;
  private final Liveness liveness;
  private HttpClientResponse response;
  private boolean halfClosed;
  /** True once it was reset, broken, or ended by both sides: nothing can be sent to the peer any more. */
  private boolean gone;

  ClientTensorStream(TensorStreamClient client, VertxLoop loop, HttpClientRequest request, Liveness liveness,
      String peer, StreamOptions options) {
    super(loop, request.connection(), peer, options);
    this.client = client;
    this.request = request;
    this.liveness = liveness;
    request.exceptionHandler(this::broken);
    request.response().onSuccess(this::answered).onFailure(this::broken);
  }

  /** Sends the request. */
  TensorStream open() {
    takeLane(request.streamId());
    return this;
  }

  private void answered(HttpClientResponse answer) {
    response = answer;
    String type = answer.getHeader("content-type");
    if (answer.statusCode() == 200 && type != null && type.startsWith("application/grpc")) {
      memory().peer(answer.getHeader(SharedPayloads.HEADER));
      read(answer);
      return;
    }
    lost(new InvalidInput(peer() + " answered a tensor stream with HTTP status " + answer.statusCode()
        + " and content type " + type + ": name the port of a Regatta service"));
    close(GrpcStatus.CANCELLED, null);
  }

  @Override
  void broken(Throwable cause) {
    gone = true;
    if (!peerHasEnded()) { // otherwise the received data are read, up to the status, and nothing is lost
      PeerLost frozen = liveness.failure();
      lost(frozen == null ? cause : frozen);
    }
  }

  @Override
  WriteStream<Buffer> sink() {
    return request;
  }

  @Override
  boolean sinkEnded() {
    return halfClosed || gone;
  }

  @Override
  RegattaException endStatus() {
    String status = response.getTrailer("grpc-status");
    String message = response.getTrailer("grpc-message");
    if (status == null) {
      status = response.getHeader("grpc-status");
      message = response.getHeader("grpc-message");
    }
    if (status == null) {
      return new PeerLost(peer() + " ended the tensor stream without a gRPC status; it was cut off");
    }
    GrpcStatus code = parse(status);
    if (code == GrpcStatus.OK) {
      return null;
    }
    return ErrorMapping.exception(code, message == null || message.isEmpty()
        ? peer() + " ended the tensor stream with status " + status + " and no message" : ErrorMapping.decode(message), peer());
  }

  private static GrpcStatus parse(String status) {
    try {
      return GrpcStatus.valueOf(Integer.parseInt(status));
    } catch (NumberFormatException e) {
      return GrpcStatus.UNKNOWN;
    }
  }

  @Override
  void over() {
    if (halfClosed) {
      gone = true;
    } else {
      close(GrpcStatus.CANCELLED, null);
    }
  }

  @Override
  public Future<Void> end() {
    if (sinkEnded()) {
      return Future.succeededFuture();
    }
    halfClosed = true;
    return request.end();
  }

  @Override
  Future<Void> close(GrpcStatus status, String message) {
    if (gone) {
      return Future.succeededFuture();
    }
    gone = true;
    return request.reset(CANCEL).mapEmpty();
  }
}
