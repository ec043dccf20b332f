package io.regatta.predictor;

import io.regatta.protocol.call.HeldRequests;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;

/**
 * The bodies of HTTP requests: each within a limit of its bytes and of its time, all together within another. Used on
 * the event loop of the port.
 */
final class RequestBodies {

  /** A request that is refused before its body is read, with its status. */
  static final class Refused extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final int status;

    Refused(int status, String message) {
      super(message, null, false, false);
      this.status = status;
    }

    int status() {
      return status;
    }
  }

  private final HeldRequests held;
  private final int maxBytes;

  /**
   * @param held counts what has arrived until it is answered
   * @param maxBytes of a body
   */
  RequestBodies(HeldRequests held, int maxBytes) {
    this.held = held;
    this.maxBytes = maxBytes;
  }

  /**
   * Reads a body. Its bytes count as held until {@link Body#release}.
   *
   * @param then gets the body, or the error for which it is not read further: {@link Refused}, {@code Overloaded},
   * {@link     TimeoutException}, or the connection's
   * @return the body, whose bytes come later
   */
  Body read(HttpServerRequest request, BiConsumer<byte[], Throwable> then) {
    Body body = new Body(then);
    String coding = request.getHeader("content-encoding");
    if (coding != null && !coding.equalsIgnoreCase("identity")) {
      request.response().putHeader("accept-encoding", "identity");
      body.done(null, new Refused(415, "the body has content-encoding " + coding
          + ", which is not supported; send it without a "
          + "content encoding"));
      return body;
    }
    String length = request.getHeader("content-length");
    if (length == null || length.length() > 10 || Long.parseLong(length) > maxBytes) {
      body.done(null, new Refused(length == null ? 411 : 413, "a request must have a content-length of at most "
          + maxBytes
          + " bytes (predictor.max_request_bytes)"));
      return body;
    }
    body.begin(request);
    if ("100-continue".equalsIgnoreCase(request.getHeader("expect"))) {
      request.response().writeContinue();
    }
    return body;
  }

  /** One body; no more of it is held than has arrived. */
  final class Body {

    private final BiConsumer<byte[], Throwable> then;
    private Buffer bytes;
    /** True if the bytes are no longer the buffer of the connection. */
    private boolean copied;
    private long holds;
    private Runnable hasArrived = () -> { };
    private boolean done;

    private Body(BiConsumer<byte[], Throwable> then) {
      this.then = then;
    }

    private void begin(HttpServerRequest request) {
      hasArrived = held.awaitArrival(() -> done(null, new TimeoutException(held.late(holds + " bytes"))));
      request.exceptionHandler(e -> done(null, e));
      request.endHandler(end -> done(bytes == null ? new byte[0] : bytes.getBytes(), null));
      request.handler(this::take);
    }

    /** Takes a buffer of the body; those after a refusal are dropped. */
    private void take(Buffer piece) {
      if (done) {
        return;
      }
      if (!held.hold(piece.length())) {
        done(null, held.overloaded());
        return;
      }
      holds += piece.length();
      bytes = bytes == null ? piece : (copied ? bytes : bytes.copy()).appendBuffer(piece);
      copied |= bytes != piece;
    }

    private void done(byte[] whole, Throwable error) {
      if (!done) {
        done = true;
        hasArrived.run();
        bytes = null;
        then.accept(whole, error);
      }
    }

    /** Counts the bytes no longer: the request is answered, or gone. */
    void release() {
      held.giveBack(holds);
      holds = 0;
    }
  }
}
