package io.regatta.protocol.error;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.Indeterminate;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.NotOwner;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.error.RegattaException.RunEnded;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.vertx.grpc.common.GrpcStatus;
import io.vertx.grpc.server.StatusException;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/**
 * The mapping between {@link RegattaException}s and gRPC status codes, the only one: InvalidInput ↔ INVALID_ARGUMENT,
 * Conflict ↔ ALREADY_EXISTS, StaleGeneration ↔ ABORTED, NotOwner ↔ FAILED_PRECONDITION, Overloaded ↔
 * RESOURCE_EXHAUSTED, PeerLost ↔ UNAVAILABLE, Indeterminate ↔ UNKNOWN, Cancelled ↔ CANCELLED, RunEnded ↔ OUT_OF_RANGE.
 * The text travels in {@code grpc-message}. Pure functions, any thread.
 */
public final class ErrorMapping {

  /**
   * Longest text, in percent-encoded characters. Peers limit all headers of a message together to 8 KiB by default, and
   * break the whole connection if they are longer.
   */
  static final int MAX_ENCODED = 4096;

  private static final String CUT = " ...";
  private static final char[] HEX = "0123456789ABCDEF".toCharArray();

  private ErrorMapping() {}

  /** Returns the status for an error of ours. */
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
    } else if (error instanceof RunEnded) {
      return GrpcStatus.OUT_OF_RANGE;
    }
    return GrpcStatus.UNKNOWN;
  }

  /** Returns the error for a status that a peer answered with; null or unknown codes are taken as UNKNOWN. */
  public static RegattaException exception(GrpcStatus status, String message) {
    String text = message == null || message.isBlank() ? "the peer answered with status "
        + (status == null ? GrpcStatus.UNKNOWN : status).name() + " and no message" : message;
    return switch (status == null ? GrpcStatus.UNKNOWN : status) {
      case INVALID_ARGUMENT, UNIMPLEMENTED, UNAUTHENTICATED, PERMISSION_DENIED -> new InvalidInput(text);
      case ALREADY_EXISTS -> new Conflict(text);
      case ABORTED -> new StaleGeneration(text);
      case FAILED_PRECONDITION, NOT_FOUND -> new NotOwner(text);
      case RESOURCE_EXHAUSTED -> new Overloaded(text);
      case UNAVAILABLE, DEADLINE_EXCEEDED, DATA_LOSS -> new PeerLost(text);
      case CANCELLED -> new Cancelled(text);
      case OUT_OF_RANGE -> new RunEnded(text);
      default -> new Indeterminate(text, null);
    };
  }

  /**
   * Returns the error for the answer of a named peer. A peer that refuses a call for its token, or has no such call, does not know under
   * which address it was called: the error names it.
   *
   * @param peer e.g. {@code rendezvous at 10.0.0.7:36000}
   */
  public static RegattaException exception(GrpcStatus status, String message, String peer) {
    if (message == null) {
      return exception(status, null);
    }
    return exception(status, status == GrpcStatus.UNAUTHENTICATED ? peer + " " + message
        : status == GrpcStatus.UNIMPLEMENTED ? peer + ": " + message : message);
  }

  /** Returns any failure as one of ours; a foreign failure is indeterminate. */
  public static RegattaException regatta(Throwable failure) {
    Throwable cause = failure;
    while ((cause instanceof CompletionException || cause instanceof ExecutionException) && cause.getCause() != null) {
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

  /** Returns the failure for the future of a generated Vert.x service, so that the caller reads our text. */
  public static StatusException toStatus(Throwable failure) {
    RegattaException error = regatta(failure);
    return new StatusException(status(error), decode(encode(String.valueOf(error.getMessage()))));
  }

  /**
   * Encodes {@code grpc-message} in percent-encoding, as the gRPC protocol over HTTP/2 requires: of UTF-8, all but
   * printable ASCII and the percent sign itself. A text that would be longer than {@value #MAX_ENCODED} characters is
   * cut.
   */
  public static String encode(String message) {
    StringBuilder out = new StringBuilder(Math.min(message.length() + 16, MAX_ENCODED));
    int room = 0;
    for (int i = 0; i < message.length(); ) {
      int c = message.codePointAt(i);
      i += Character.charCount(c);
      append(out, c);
      if (out.length() > MAX_ENCODED) {
        return out.delete(room, out.length()).append(CUT).toString();
      }
      if (out.length() <= MAX_ENCODED - CUT.length()) {
        room = out.length();
      }
    }
    return out.toString();
  }

  private static void append(StringBuilder out, int codePoint) {
    if (codePoint >= ' ' && codePoint <= '~' && codePoint != '%') {
      out.append((char) codePoint);
      return;
    }
    for (byte b : Character.toString(codePoint).getBytes(StandardCharsets.UTF_8)) {
      out.append('%').append(HEX[b >> 4 & 15]).append(HEX[b & 15]);
    }
  }

  /** Reverses {@link #encode}; badly encoded parts are kept unchanged. */
  public static String decode(String encoded) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(encoded.length());
    int i = 0;
    while (i < encoded.length()) {
      int b = encoded.charAt(i) == '%' ? hex(encoded, i + 1) : -1;
      if (b >= 0) {
        out.write(b);
        i += 3;
      } else {
        int c = encoded.codePointAt(i);
        out.writeBytes(Character.toString(c).getBytes(StandardCharsets.UTF_8));
        i += Character.charCount(c);
      }
    }
    return out.toString(StandardCharsets.UTF_8);
  }

  /** Returns the byte of two hexadecimal digits, or -1. */
  private static int hex(String text, int at) {
    if (at + 1 >= text.length()) {
      return -1;
    }
    int high = Character.digit(text.charAt(at), 16);
    int low = Character.digit(text.charAt(at + 1), 16);
    return high < 0 || low < 0 ? -1 : high << 4 | low;
  }
}
