package io.regatta.protocol;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.PeerLost;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.net.SocketAddress;
import io.vertx.grpc.client.GrpcClient;
import io.vertx.grpc.client.GrpcClientOptions;
import io.vertx.grpc.common.GrpcStatus;
import io.vertx.grpc.common.ServiceMethod;

/**
 * Control calls to one peer over Vert.x gRPC, whose failures are {@link RegattaException}s with the peer's own text
 * (the generated clients keep only the status code). Results come back on the caller's context.
 */
final class UnaryCalls {
  private static final long MAX_MESSAGE_BYTES = 64L << 20;

  private final Vertx vertx;
  private final GrpcClient client;
  private final SocketAddress address;
  private final String peer;

  /** @param peer for messages, e.g. {@code rendezvous at 10.0.0.7:36000} */
  UnaryCalls(Vertx vertx, String host, int port, String peer, int connectTimeoutMillis) {
    this.vertx = vertx;
    this.peer = peer;
    address = SocketAddress.inetSocketAddress(port, host);
    client = GrpcClient.client(vertx, new GrpcClientOptions().setMaxMessageSize(MAX_MESSAGE_BYTES),
        new HttpClientOptions().setConnectTimeout(connectTimeoutMillis));
  }

  /** One request, one answer. */
  <Q, A> Future<A> call(ServiceMethod<A, Q> method, Q request) {
    Promise<A> promise = ((io.vertx.core.internal.ContextInternal) vertx.getOrCreateContext()).promise();
    Object[] answer = new Object[1];
    stream(method, request, a -> answer[0] = a).onComplete(r -> {
      if (r.failed()) {
        promise.fail(r.cause());
      } else if (answer[0] == null) {
        promise.fail(new PeerLost(peer + " answered " + method.methodName() + " with nothing"));
      } else {
        @SuppressWarnings("unchecked")
        A value = (A) answer[0];
        promise.complete(value);
      }
    });
    return promise.future();
  }

  /** One request, many answers; completes when the peer has ended the stream. */
  <Q, A> Future<Void> stream(ServiceMethod<A, Q> method, Q request, Handler<A> each) {
    return client.request(address, method).compose(r -> r.end(request).compose(v -> r.response()).compose(answer -> {
      Promise<Void> done = Promise.promise();
      answer.handler(each);
      answer.exceptionHandler(e -> done.tryFail(lost(method, e)));
      answer.endHandler(v -> {
        if (answer.status() == GrpcStatus.OK) {
          done.tryComplete();
        } else {
          done.tryFail(ErrorMapping.exception(answer.status(), answer.statusMessage()));
        }
      });
      return done.future();
    })).recover(e -> Future.failedFuture(e instanceof RegattaException ? e : lost(method, e)));
  }

  private PeerLost lost(ServiceMethod<?, ?> method, Throwable e) {
    return new PeerLost(peer + " is lost (" + method.methodName() + ": " + e.getMessage() + ")", e);
  }

  Future<Void> close() {
    return client.close();
  }
}
