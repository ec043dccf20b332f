package io.regatta.protocol.stream.frame;

import io.vertx.grpc.common.GrpcStatus;

/** Bytes that are no tensor stream, and the status that tells the peer so. Does not leave this package. */
public final class WireException extends RuntimeException {
  public final GrpcStatus status;

  public WireException(GrpcStatus status, String message) {
    super(message);
    this.status = status;
  }
}
