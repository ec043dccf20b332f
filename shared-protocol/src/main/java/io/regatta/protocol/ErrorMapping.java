package io.regatta.protocol;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.Indeterminate;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.NotOwner;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.vertx.grpc.common.GrpcStatus;
import io.vertx.grpc.server.StatusException;
import java.nio.charset.StandardCharsets;

/**
 * The one place where {@link RegattaException}s become gRPC status codes and back: InvalidInput ↔ INVALID_ARGUMENT,
 * Conflict ↔ ALREADY_EXISTS, StaleGeneration ↔ ABORTED, NotOwner ↔ FAILED_PRECONDITION, Overloaded ↔ RESOURCE_EXHAUSTED,
 * PeerLost ↔ UNAVAILABLE, Indeterminate ↔ UNKNOWN, Cancelled ↔ CANCELLED. The text travels in {@code grpc-message}.
 */
public final class ErrorMapping {

  private ErrorMapping() {}

  /** The status for an error of ours. */
  public static GrpcStatus status(RegattaException error) {
    if (error instanceof InvalidInput) {
      return GrpcStatus.INVALID_ARGUMENT;
    } else if (error instanceof Conflict) {
      return GrpcStatus.ALREADY_EXISTS;
    } else if (error instanceof StaleGeneration) {
      return GrpcStatus.ABORTED;
    } else if (error instanceof NotOwner) {
      return GrpcStatus.FAILED_PRECONDITION;
    } else if (error instanceof Overloaded) {
      return GrpcStatus.RESOURCE_EXHAUSTED;
    } else if (error instanceof PeerLost) {
      return GrpcStatus.UNAVAILABLE;
    } else if (error instanceof Cancelled) {
      return GrpcStatus.CANCELLED;
    }
    return GrpcStatus.UNKNOWN;
  }

  /** The error for a status that a peer answered with; null or unknown codes are taken as UNKNOWN. */
  public static RegattaException exception(GrpcStatus status, String message) {
    String text = message == null || message.isBlank() ? "the peer answered " + status + " without a message" : message;
    return switch (status == null ? GrpcStatus.UNKNOWN : status) {
      case INVALID_ARGUMENT, OUT_OF_RANGE, UNIMPLEMENTED, UNAUTHENTICATED, PERMISSION_DENIED -> new InvalidInput(text);
      case ALREADY_EXISTS -> new Conflict(text);
      case ABORTED -> new StaleGeneration(text);
      case FAILED_PRECONDITION, NOT_FOUND -> new NotOwner(text);
      case RESOURCE_EXHAUSTED -> new Overloaded(text);
      case UNAVAILABLE, DEADLINE_EXCEEDED, DATA_LOSS -> new PeerLost(text);
      case CANCELLED -> new Cancelled(text);
      default -> new Indeterminate(text, null);
    };
  }

  /** Any failure as one of ours; what is not ours already is indeterminate. */
  public static RegattaException regatta(Throwable failure) {
    Throwable cause = failure;
    while ((cause instanceof java.util.concurrent.CompletionException
        || cause instanceof java.util.concurrent.ExecutionException) && cause.getCause() != null) {
      cause = cause.getCause();
    }
    if (cause instanceof RegattaException ours) {
      return ours;
    }
    if (cause instanceof StatusException status) {
      return exception(status.status(), status.message());
    }
    return new Indeterminate("unexpected failure: " + cause, cause);
  }

  /** What a generated Vert.x service fails its future with, so that the caller reads our text. */
  public static StatusException toStatus(Throwable failure) {
    RegattaException error = regatta(failure);
    return new StatusException(status(error), error.getMessage());
  }

  /** Percent-encoding of {@code grpc-message}, as the gRPC protocol over HTTP/2 wants it. */
  public static String encode(String message) {
    StringBuilder out = new StringBuilder();
    for (byte b : message.getBytes(StandardCharsets.UTF_8)) {
      if (b >= ' ' && b <= '~' && b != '%') {
        out.append((char) b);
      } else {
        out.append('%').append(String.format("%02X", b));
      }
    }
    return out.toString();
  }

  /** The reverse of {@link #encode}; bytes that are not well encoded are kept as they are. */
  public static String decode(String encoded) {
    java.io.ByteArrayOutputStream out = new java.io.ByteArrayOutputStream();
    for (int i = 0; i < encoded.length(); i++) {
      char c = encoded.charAt(i);
      int high = c == '%' && i + 2 < encoded.length() ? Character.digit(encoded.charAt(i + 1), 16) : -1;
      int low = high >= 0 ? Character.digit(encoded.charAt(i + 2), 16) : -1;
      if (low >= 0) {
        out.write(high << 4 | low);
        i += 2;
      } else {
        out.writeBytes(String.valueOf(c).getBytes(StandardCharsets.UTF_8));
      }
    }
    return out.toString(StandardCharsets.UTF_8);
  }
}
