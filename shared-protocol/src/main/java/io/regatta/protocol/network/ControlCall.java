package io.regatta.protocol.network;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.protocol.error.ErrorMapping;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.grpc.client.GrpcClientRequest;
import io.vertx.grpc.client.GrpcClientResponse;
import io.vertx.grpc.common.GrpcStatus;
import io.vertx.grpc.common.ServiceMethod;

/**
 * One call of {@link UnaryCalls}. Owned by their context. However it ends (status, reset, broken connection, no
 * connection), the promise is completed. A call that the peer reports as not seen is repeated once.
 */
final class ControlCall<Q, A> {
  private final UnaryCalls calls;
  private final ServiceMethod<A, Q> method;
  private final Handler<A> each;
  private final Promise<Void> ended;
  private GrpcClientRequest<Q, A> request;
  private boolean greetedAgain;
  private boolean repeated;
  private boolean cancelled;

  ControlCall(UnaryCalls calls, ServiceMethod<A, Q> method, Handler<A> each, Promise<Void> ended) {
    this.calls = calls;
    this.method = method;
    this.each = each;
    this.ended = ended;
  }

  Future<Void> ended() {
    return ended.future();
  }

  Future<Void> start(Q message) {
    if (!cancelled) {
      calls.request(method).onFailure(e -> ended.tryFail(calls.unconnected(method, e))).onSuccess(r -> {
        request = r;
        if (cancelled) {
          r.cancel();
          return;
        }
        Handler<Throwable> lost = cause -> lost(r, message, cause);
        r.exceptionHandler(lost);
        r.response().onSuccess(answer -> answered(answer, message, lost)).onFailure(lost);
        r.end(message).onFailure(lost);
      });
    }
    return ended.future();
  }

  private void answered(GrpcClientResponse<Q, A> answer, Q message, Handler<Throwable> lost) {
    String encoding = answer.headers().get("grpc-encoding");
    if (encoding != null && !encoding.equalsIgnoreCase("identity")) { // the library's limit counts compressed bytes
      ended.tryFail(new InvalidInput(calls.peer() + " answered " + method.methodName() + " in grpc-encoding " + encoding
          + ", which is not decompressed here: let no proxy between compress"));
      request.cancel();
      return;
    }
    answer.handler(each);
    answer.exceptionHandler(lost);
    answer.errorHandler(error -> lost.handle(new IllegalStateException("the call was reset, " + error)));
    answer.endHandler(v -> {
      if (answer.status() == GrpcStatus.OK) {
        ended.tryComplete();
      } else if (!greetedAgain && calls.mustGreetAgain(request, answer)) {
        greetedAgain = true;
        start(message);
      } else {
        ended.tryFail(failure(answer));
      }
    });
  }

  /** Reads the text itself: the library looks for it in the headers only, and takes a plus sign for a space. */
  private RegattaException failure(GrpcClientResponse<Q, A> answer) {
    String message = answer.headers().get("grpc-message");
    if (message == null) {
      message = answer.trailers().get("grpc-message");
    }
    GrpcStatus status = answer.status() == null ? GrpcStatus.UNKNOWN : answer.status();
    return ErrorMapping.exception(status, message == null || message.isEmpty()
        ? calls.peer() + " answered " + method.methodName() + " with status " + status.name() + " and no message"
        : ErrorMapping.decode(message), calls.peer());
  }

  /** Repeats a call once, over another connection, if the peer has not seen it. */
  private void lost(GrpcClientRequest<Q, A> lost, Q message, Throwable cause) {
    if (lost != request) {
      return; // it has been repeated since
    }
    if (!repeated && calls.isUnseen(lost)) {
      repeated = true;
      request = null;
      start(message);
      return;
    }
    ended.tryFail(calls.lost(method, cause.getMessage() == null ? cause.toString() : cause.getMessage(), cause));
  }

  /** Cancels the call; it counts as ended. */
  void cancel() {
    cancelled = true;
    if (ended.tryComplete() && request != null) {
      request.cancel();
    }
  }
}
