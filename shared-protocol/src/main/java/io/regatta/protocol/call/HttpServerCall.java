package io.regatta.protocol.call;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.protocol.connection.PeerLog;
import io.regatta.protocol.connection.PeerOrigin;
import io.regatta.protocol.error.ErrorMapping;
import io.regatta.protocol.security.PeerSecurity;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.grpc.common.CodecException;
import io.vertx.grpc.common.GrpcMessage;
import io.vertx.grpc.common.GrpcStatus;
import io.vertx.grpc.common.ServiceMethod;
import io.vertx.grpc.common.WireFormat;
import java.util.concurrent.CompletionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A control call over HTTP/2, from its request to its status; used on the event loop of its port. Every outcome is
 * answered: a refusal with its status, bytes that are no request with {@code InvalidInput}, a fault of this side with
 * INTERNAL and a line in the log. If the client cancels the call or disconnects, its waits are withdrawn.
 *
 * @param <Q> request message
 * @param <A> answer message
 */
final class HttpServerCall<Q, A> implements ServerCall<Q, A> {
  static final Logger LOG = LoggerFactory.getLogger(ServerCall.class);

  private final ServiceMethod<Q, A> method;
  private final HttpServerRequest request;
  private final HttpServerResponse response;
  private final RequestLimits limits;
  private final PeerLog faults;
  private final MessageReader reader;
  private final Serve<Q, A> serve;
  /**
   * True: each message is served as it arrives, and the client's end is the call's. Otherwise a request is one message.
   */
  private final boolean streaming;
  /** The one message, until the client has ended its request. */
  private Q only;
  private boolean headed;
  private boolean over;
  private Runnable withdraw = () -> { };
  /** Bytes of the request that are counted in the limit of all that arrive. */
  private long held;
  private Runnable hasArrived = () -> { };

  /** @param faults of this method at this port */
  HttpServerCall(ServiceMethod<Q, A> method, HttpServerRequest request, RequestLimits limits, PeerLog faults,
      boolean streaming,
      Serve<Q, A> serve) {
    this.method = method;
    this.request = request;
    this.response = request.response();
    this.limits = limits;
    this.faults = faults;
    this.reader = new MessageReader(method.fullMethodName(), limits.messageBytes());
    this.streaming = streaming;
    this.serve = serve;
  }

  /** Starts to read the request. */
  void start() {
    request.exceptionHandler(e -> clientGone());
    response.exceptionHandler(e -> clientGone());
    response.closeHandler(v -> clientGone());
    request.endHandler(v -> guarded(this::ended));
    request.handler(bytes -> guarded(() -> arrived(bytes)));
    if (limits.held() != null) {
      hasArrived = limits.held().awaitArrival(this::late);
    }
  }

  @Override
  public String origin() {
    return PeerOrigin.of(request.remoteAddress());
  }

  @Override
  public Runnable keepConnection() {
    return PeerSecurity.keepWithoutToken(request.connection());
  }

  private void hold(int bytes) {
    if (limits.held() == null) {
      return;
    }
    if (!limits.held().hold(bytes)) {
      limits.held().refused();
      throw limits.held().overloaded();
    }
    held += bytes;
  }

  private void late() {
    if (!over) {
      limits.held().refused();
      fail(GrpcStatus.DEADLINE_EXCEEDED, limits.held().late(reader.progress()));
    }
  }

  /** Releases the held bytes: the request is complete, or is not read any more. */
  private void release() {
    hasArrived.run();
    if (held > 0) {
      limits.held().giveBack(held);
      held = 0;
    }
  }

  private void arrived(Buffer bytes) {
    if (over) {
      return;
    }
    hold(bytes.length());
    reader.feed(bytes);
    for (Buffer message = reader.next(); message != null && !over; message = reader.next()) {
      Q decoded = method.decoder().decode(GrpcMessage.message("identity", message));
      limits.check(method.fullMethodName(), decoded);
      if (streaming) {
        begin(decoded);
      } else if (only != null) {
        throw new InvalidInput("a call of " + method.fullMethodName() + " has one message, and this one has more");
      } else {
        only = decoded;
      }
    }
    if (streaming && !over && response.writeQueueFull()) {
      request.pause();
      response.drainHandler(v -> request.resume());
    }
  }

  private void ended() {
    if (over) {
      return;
    }
    if (!reader.atBoundary()) {
      throw new InvalidInput("the request for " + method.fullMethodName() + " ended in the middle of a message, after "
          + reader.progress());
    }
    if (streaming) {
      end();
    } else if (only == null) {
      throw new InvalidInput(method.fullMethodName() + " came without a message");
    } else {
      begin(only);
    }
  }

  /** Begins to serve; the message counts as the handler's from here on. */
  private void begin(Q message) {
    release();
    Runnable whenGone = serve.begin(message, this);
    if (!over) {
      withdraw = whenGone;
    }
  }

  private void guarded(Runnable step) {
    try {
      step.run();
    } catch (CodecException e) {
      String why = e.getCause() == null ? e.getMessage() : e.getCause().getMessage();
      fail(new InvalidInput("the request is no message of " + method.fullMethodName() + ": " + why, e));
    } catch (RuntimeException | Error e) {
      fail(e);
    }
  }

  private void clientGone() {
    if (!over) {
      over = true;
      release();
      withdraw.run();
    }
  }

  @Override
  public boolean isOver() {
    return over;
  }

  @Override
  public void write(A reply) {
    if (!over) {
      head();
      response.write(framed(reply)).onFailure(this::unanswered);
    }
  }

  @Override
  public boolean writeQueueFull() {
    return !over && response.writeQueueFull();
  }

  @Override
  public void drainHandler(Handler<Void> handler) {
    response.drainHandler(handler);
  }

  @Override
  public Future<Void> endWith(Buffer frame) {
    if (over) {
      return Future.succeededFuture();
    }
    head();
    Future<Void> written = response.write(frame).onFailure(this::unanswered);
    end();
    return written.otherwiseEmpty();
  }

  @Override
  public void end() {
    if (!over) {
      over = true;
      release();
      head();
      response.putTrailer("grpc-status", "0");
      response.end().onFailure(this::unanswered);
    }
  }

  @Override
  public void fail(Throwable error) {
    Throwable cause = error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
    if (cause instanceof RegattaException refusal) {
      fail(ErrorMapping.status(refusal), String.valueOf(refusal.getMessage()));
    } else if (!over) {
      faults.error(method.fullMethodName() + " failed", cause);
      fail(GrpcStatus.INTERNAL, method.fullMethodName() + " failed by a fault of this process: " + cause + "; see its log");
    }
  }

  @Override
  public void fail(GrpcStatus status, String text) {
    if (over) {
      return;
    }
    over = true;
    release();
    if (headed) {
      response.putTrailer("grpc-status", Integer.toString(status.code)).putTrailer("grpc-message", ErrorMapping.encode(text));
    } else {
      response.putHeader("content-type", GrpcCalls.CONTENT_TYPE).putHeader("grpc-status", Integer.toString(status.code))
          .putHeader("grpc-message", ErrorMapping.encode(text));
    }
    response.end().onFailure(this::unanswered);
  }

  private void head() {
    if (!headed) {
      headed = true;
      response.putHeader("content-type", GrpcCalls.CONTENT_TYPE);
    }
  }

  @Override
  public Buffer framed(A reply) {
    Buffer payload = method.encoder().encode(reply, WireFormat.PROTOBUF).payload();
    return Buffer.buffer(payload.length() + 5).appendByte((byte) 0).appendInt(payload.length()).appendBuffer(payload);
  }

  private void unanswered(Throwable e) {
    LOG.debug("{}: the client has gone before its answer: {}", method.fullMethodName(), e.toString());
  }
}
