package io.regatta.protocol.stream;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.protocol.ErrorMapping;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.streams.WriteStream;
import io.vertx.grpc.common.GrpcStatus;

/**
 * The client's end of a tensor stream: writes the request's body, reads the response's, and asks the connection for a
 * sign of life, so that a frozen peer is noticed although waiting itself has no limit.
 */
final class ClientTensorStream extends HttpTensorStream {
  /** HTTP/2 error code CANCEL. */
  private static final long CANCEL = 8;

  private final HttpClientRequest request;
  private final StreamOptions options;
  private HttpClientResponse response;
  private boolean ended;
  private long pingTimer = -1;

  ClientTensorStream(Context context, HttpClientRequest request, String peer, StreamOptions options) {
    super(context, peer, options);
    this.request = request;
    this.options = options;
    request.exceptionHandler(this::lost);
    request.response().onComplete(answer -> {
      if (answer.failed()) {
        lost(answer.cause());
        return;
      }
      response = answer.result();
      if (response.statusCode() != 200) {
        lost(new PeerLost(peer + " answered HTTP " + response.statusCode()
            + " to a tensor stream; is this the port of a Regatta service?"));
        request.reset(CANCEL);
        return;
      }
      read(response);
    });
    if (options.pingIntervalMillis() > 0) {
      pingTimer = context.owner().setPeriodic(options.pingIntervalMillis(), t -> ping());
    }
  }

  private void ping() {
    request.connection().ping(Buffer.buffer(new byte[8]))
        .timeout(options.pingTimeoutMillis(), java.util.concurrent.TimeUnit.MILLISECONDS)
        .onFailure(e -> {
          if (!isFinished()) {
            lost(new PeerLost("no sign of life from " + peer() + " for " + options.pingTimeoutMillis()
                + " ms (" + e.getMessage() + "); the process is frozen or the network is cut", e));
            request.reset(CANCEL);
          }
        });
  }

  @Override
  WriteStream<Buffer> sink() {
    return request;
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
      return new PeerLost(peer() + " ended the tensor stream without a gRPC status");
    }
    GrpcStatus code = parse(status);
    return code == GrpcStatus.OK ? null
        : ErrorMapping.exception(code, message == null ? null : ErrorMapping.decode(message));
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
    if (pingTimer >= 0) {
      context().owner().cancelTimer(pingTimer);
      pingTimer = -1;
    }
    if (!ended) {
      ended = true;
      if (!isTransportBroken()) {
        request.reset(CANCEL);
      }
    }
  }

  @Override
  public Future<Void> end() {
    if (ended) {
      return Future.succeededFuture();
    }
    ended = true;
    return request.end();
  }

  @Override
  public Future<Void> fail(RegattaException error) {
    if (ended) {
      return Future.succeededFuture();
    }
    ended = true;
    return request.reset(CANCEL).mapEmpty();
  }
}
