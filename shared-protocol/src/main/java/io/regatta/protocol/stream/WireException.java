package io.regatta.protocol.stream;

import io.vertx.grpc.common.GrpcStatus;

/** Bytes that are no tensor stream, and the status that tells the peer so. Does not leave this package. */
final class WireException extends RuntimeException {
  final GrpcStatus status;

  WireException(GrpcStatus status, String message) {
    super(message);
    this.status = status;
  }
}
