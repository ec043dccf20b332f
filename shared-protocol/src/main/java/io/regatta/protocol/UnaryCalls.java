package io.regatta.protocol;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.protocol.security.ConnectFailure;
import io.regatta.protocol.security.Token;
import io.regatta.protocol.stream.Liveness;
import io.regatta.protocol.stream.StreamOptions;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.net.SocketAddress;
import io.vertx.grpc.client.GrpcClient;
import io.vertx.grpc.client.GrpcClientOptions;
import io.vertx.grpc.client.GrpcClientRequest;
import io.vertx.grpc.common.ServiceMethod;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Control calls to one peer over one connection by Vert.x gRPC, whose failures are
 * {@link io.regatta.core.error.RegattaException}s with the peer's own text (the generated clients keep only the status
 * code). Owned by the context that made it; may be used from any, and results come back on the caller's. An answer may
 * take as long as it likes while the peer lives.
 */
final class UnaryCalls {
  private static final long MAX_MESSAGE_BYTES = 64L << 20;
  private static final long CLOSE_MILLIS = 1000;

  private final Vertx vertx;
  private final ContextInternal context;
  private GrpcClient client;
  /** Of the certificates that the client shows. */
  private Object shown;
  private final SocketAddress address;
  private final String peer;
  private final StreamOptions options;
  /** Those on which calls may be under way: one, but for a while two if the peer has given one up. */
  private final Set<HttpConnection> connections = new HashSet<>();
  /** Calls that wait for a connection. */
  private int connecting;
  /** Of the newest connection. */
  private Liveness liveness;

  /**
   * A client that connects at its first call.
   *
   * @param peer for messages, e.g. {@code rendezvous at 10.0.0.7:36000}
   * @param options of which the times for connecting and for signs of life, TLS and token are used
   */
  UnaryCalls(Vertx vertx, String host, int port, String peer, StreamOptions options) {
    this.vertx = vertx;
    this.peer = peer;
    this.options = options;
    context = (ContextInternal) vertx.getOrCreateContext();
    address = SocketAddress.inetSocketAddress(port, host);
    client = client();
  }

  private GrpcClient client() {
    shown = options.security().version();
    return GrpcClient.client(vertx, new GrpcClientOptions().setMaxMessageSize(MAX_MESSAGE_BYTES),
        options.security().client(new HttpClientOptions().setProtocolVersion(HttpVersion.HTTP_2).setHttp2ClearTextUpgrade(false)
            .setConnectTimeout(options.connectTimeoutMillis())));
  }

  /** One request, one answer. */
  <Q, A> Future<A> call(ServiceMethod<A, Q> method, Q request) {
    Promise<A> promise = caller().promise();
    context.execute(() -> {
      Answer<A> answer = new Answer<>();
      new ControlCall<Q, A>(this, method, answer, context.promise()).start(request).onComplete(ended -> {
        if (ended.failed()) {
          promise.fail(ended.cause());
        } else if (answer.value == null) {
          promise.fail(new PeerLost(peer + " answered " + method.methodName() + " with nothing"));
        } else {
          promise.complete(answer.value);
        }
      });
    });
    return promise.future();
  }

  private static final class Answer<A> implements Handler<A> {
    private A value;

    @Override
    public void handle(A answer) {
      value = answer;
    }
  }

  /** One request, many answers, which come on the caller's context. */
  <Q, A> Watch watch(ServiceMethod<A, Q> method, Q request, Handler<A> each) {
    ContextInternal caller = caller();
    ControlCall<Q, A> call = new ControlCall<>(this, method, a -> caller.emit(a, each), caller.promise());
    context.execute(() -> call.start(request));
    return new Watch(call.ended(), () -> context.execute(call::cancel));
  }

  private ContextInternal caller() {
    return (ContextInternal) vertx.getOrCreateContext();
  }

  /**
   * A request that nothing has been sent of; on the owner's context. Once the certificates have changed, the first one that finds no
   * other call under way has a new client; one that comes earlier goes with those that are.
   */
  <Q, A> Future<GrpcClientRequest<Q, A>> request(ServiceMethod<A, Q> method) {
    if (connecting == 0 && connections.isEmpty() && shown != options.security().version()) {
      client.close(); // nothing goes on there
      client = client();
    }
    connecting++;
    Future<GrpcClientRequest<Q, A>> request = context.succeededFuture().compose(v -> client.request(address, method)); // or it throws
    return request.timeout(options.connectTimeoutMillis(), TimeUnit.MILLISECONDS)
        .onComplete(done -> connecting--)
        .onSuccess(r -> {
          watch(r.connection());
          if (!options.security().token().isNone()) {
            r.headers().set(Token.HEADER, options.security().token().headerValue());
          }
        })
        .onFailure(e -> request.onSuccess(GrpcClientRequest::cancel)); // It came too late.
  }

  private void watch(HttpConnection c) {
    if (connections.add(c)) {
      Liveness watch = Liveness.watch(vertx, c, peer, options);
      c.closeHandler(v -> {
        watch.stop();
        connections.remove(c);
      });
      liveness = watch;
    }
  }

  /** Why there is no connection to send a request on. */
  RegattaException unconnected(ServiceMethod<?, ?> method, Throwable cause) {
    InvalidInput refused = ConnectFailure.refusal(peer, cause, options.security());
    return refused != null ? refused : lost(method, (cause.getMessage() == null ? cause.toString() : cause.getMessage())
        + ConnectFailure.hint(cause, options.security()), cause);
  }

  PeerLost lost(ServiceMethod<?, ?> method, String why, Throwable cause) {
    PeerLost frozen = liveness == null ? null : liveness.failure();
    return frozen != null ? new PeerLost(frozen.getMessage(), new Unanswered(frozen))
        : new PeerLost(peer + " is lost (" + method.methodName() + ": " + why + ")", new Unanswered(cause));
  }

  String peer() {
    return peer;
  }

  /** Waits a second at most: a connection that a peer keeps from ending goes with its process or the network. */
  Future<Void> close() {
    return client.close().timeout(CLOSE_MILLIS, TimeUnit.MILLISECONDS).otherwiseEmpty();
  }
}
