package io.regatta.protocol.stream.frame;

import io.vertx.grpc.common.GrpcStatus;

/** An error of bytes that are no tensor stream, with the status for the peer. Does not leave this package. */
public final class WireException extends RuntimeException {
  public final GrpcStatus status;

  public WireException(GrpcStatus status, String message) {
    super(message);
    this.status = status;
  }
}
