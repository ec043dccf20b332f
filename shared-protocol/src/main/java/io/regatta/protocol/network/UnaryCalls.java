package io.regatta.protocol.network;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.protocol.security.CallAuthorization;
import io.regatta.protocol.security.ConnectFailure;
import io.regatta.protocol.security.GreetingCall;
import io.regatta.protocol.security.Token;
import io.regatta.protocol.stream.Liveness;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.vertx.VertxLoop;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.SocketAddress;
import io.vertx.grpc.client.GrpcClient;
import io.vertx.grpc.client.GrpcClientOptions;
import io.vertx.grpc.client.GrpcClientRequest;
import io.vertx.grpc.client.GrpcClientResponse;
import io.vertx.grpc.common.GrpcStatus;
import io.vertx.grpc.common.ServiceMethod;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Control calls to one peer over one connection by Vert.x gRPC. Failures are
 * {@link io.regatta.core.error.RegattaException}s with the peer's own text (the generated clients keep only the status
 * code). Owned by the context that made it; may be used from any, and results come back on the caller's. An answer may
 * take any time while the peer lives.
 */
final class UnaryCalls implements Calls {
  private static final long MAX_MESSAGE_BYTES = 64L << 20;
  private static final long CLOSE_MILLIS = 1000;

  private final Vertx vertx;
  private final VertxLoop loop;
  private final SocketAddress address;
  private final String peer;
  private final StreamOptions options;
  /** Clients with calls under way, and the newest, which takes the next call. */
  private final Set<Client> clients = new HashSet<>();
  private Client newest;
  /** Open connections that the peer has given up, by GOAWAY, before it saw a call. */
  private final Set<HttpConnection> unseen = new HashSet<>();
  /** Keep-alive of the newest connection. */
  private Liveness liveness;

  /**
   * Creates a client that connects at its first call.
   *
   * @param peer for messages, e.g. {@code rendezvous at 10.0.0.7:36000}
   * @param options whose connect and ping times, TLS and token are used
   */
  UnaryCalls(Vertx vertx, String host, int port, String peer, StreamOptions options) {
    this.vertx = vertx;
    this.peer = peer;
    this.options = options;
    loop = VertxLoop.current(vertx);
    address = SocketAddress.inetSocketAddress(port, host);
    newest = new Client();
    clients.add(newest);
  }

  /** A client of the library with its connections to the peer. Owned by the context. */
  private final class Client {
    /** The version of the certificates that it shows. */
    private final Object shown = options.security().version();
    private final GrpcClient grpc = GrpcClient.client(vertx, new GrpcClientOptions().setMaxMessageSize(MAX_MESSAGE_BYTES),
        options.security().client(new HttpClientOptions().setProtocolVersion(HttpVersion.HTTP_2).setHttp2ClearTextUpgrade(false)
            .setConnectTimeout(options.connectTimeoutMillis())));
    /** Connections with possible calls under way: one, but for a while two if the peer has given one up. */
    private final Map<HttpConnection, CallAuthorization> connections = new HashMap<>();
    /** Calls that wait for a connection. */
    private int connecting;

    private boolean isIdle() {
      return connecting == 0 && connections.isEmpty();
    }

    private void closeIfReplaced() {
      if (this != newest && isIdle() && clients.remove(this)) {
        grpc.close();
      }
    }
  }

  private void replace() {
    Client before = newest;
    newest = new Client();
    clients.add(newest);
    before.closeIfReplaced();
  }

  @Override
  public <Q, A> Future<A> call(ServiceMethod<A, Q> method, Q request) {
    Promise<A> promise = VertxLoop.current(vertx).promise();
    loop.executeNow(() -> {
      Answer<A> answer = new Answer<>();
      new ControlCall<Q, A>(this, method, answer, loop.promise()).start(request).onComplete(ended -> {
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

  @Override
  public <Q, A> Watch watch(ServiceMethod<A, Q> method, Q request, Handler<A> each) {
    VertxLoop caller = VertxLoop.current(vertx);
    ControlCall<Q, A> call = new ControlCall<>(this, method, a -> caller.emit(a, each), caller.promise());
    loop.executeNow(() -> call.start(request));
    return new Watch(call.ended(), () -> loop.executeNow(call::cancel));
  }

  /**
   * Returns a request of which nothing has been sent; on the owner's context. Once the certificates have changed, the
   * first request that finds no other call under way gets a new client; an earlier one uses the client of the others.
   * If no connection was made in time, the next request tries another connection: the library would wait for the same
   * one as long as the peer is silent on it.
   */
  <Q, A> Future<GrpcClientRequest<Q, A>> request(ServiceMethod<A, Q> method) {
    if (newest.isIdle() && newest.shown != options.security().version()) {
      replace();
    }
    Client by = newest;
    by.connecting++;
    Future<GrpcClientRequest<Q, A>> request = loop.succeeded(null)
        .compose(v -> by.grpc.request(address, method)) // or it throws
        .compose(r -> authorized(by, method, r));
    return request.timeout(options.connectTimeoutMillis(), TimeUnit.MILLISECONDS)
        .onFailure(e -> {
          request.onSuccess(GrpcClientRequest::cancel); // It came too late.
          if (!request.isComplete() && by == newest && by.connections.isEmpty()) {
            replace();
          }
        })
        .onComplete(done -> {
          by.connecting--;
          by.closeIfReplaced();
        });
  }

  /** Adds the header to a request; one whose peer does not prove that it knows the token is not sent. */
  private <Q, A> Future<GrpcClientRequest<Q, A>> authorized(Client by, ServiceMethod<A, Q> method,
      GrpcClientRequest<Q, A> request) {
    HttpConnection connection = request.connection();
    CallAuthorization authorization = watch(by, connection);
    return authorization
        .header(connection.remoteAddress(), "POST", "/" + method.fullMethodName(), header ->
            GreetingCall.send(vertx, address.host(), address.port(), header, options.connectTimeoutMillis()))
        .map(header -> {
          if (header != null) {
            request.headers().set(Token.HEADER, header);
          }
          return request;
        }).onFailure(e -> {
          request.cancel();
          if (!authorization.wasProved()) { // the library never takes back the places of requests that were not sent
            connection.close();
          }
        });
  }

  /** Returns the header {@code www-authenticate} of an answer; null: there is none. */
  private static String challenge(GrpcClientResponse<?, ?> answer) {
    return answer.headers().get("www-authenticate");
  }

  /**
   * Returns true if a peer has refused a call, before processing it, because the proof of the token was made for
   * another process or has expired. The next call on the connection greets it again.
   */
  boolean mustGreetAgain(GrpcClientRequest<?, ?> request, GrpcClientResponse<?, ?> answer) {
    if (answer.status() != GrpcStatus.UNAUTHENTICATED || !CallAuthorization.isChallenge(challenge(answer))) {
      return false;
    }
    clients.stream().map(by -> by.connections.get(request.connection())).filter(Objects::nonNull)
        .forEach(CallAuthorization::forget);
    return true;
  }

  /**
   * Returns true if a peer has not seen a request, and never will. It has given up the connection while the first call
   * was on its way, as a server does that has waited too long for it.
   */
  boolean isUnseen(GrpcClientRequest<?, ?> request) {
    return unseen.contains(request.connection());
  }

  private CallAuthorization watch(Client by, HttpConnection c) {
    CallAuthorization known = by.connections.get(c);
    if (known != null) {
      return known;
    }
    CallAuthorization authorization = new CallAuthorization(options.security(), peer);
    by.connections.put(c, authorization);
    Liveness watch = Liveness.watch(vertx, c, peer, options);
    c.goAwayHandler(end -> {
      if (end.getLastStreamId() == 0) {
        unseen.add(c);
      }
    });
    c.closeHandler(v -> {
      watch.stop();
      by.connections.remove(c);
      unseen.remove(c);
      by.closeIfReplaced();
    });
    liveness = watch;
    return authorization;
  }

  /** Returns the error of a request without a connection. */
  RegattaException unconnected(ServiceMethod<?, ?> method, Throwable cause) {
    InvalidInput refused = ConnectFailure.refusal(peer, cause, options.security());
    String why = cause instanceof TimeoutException ? "no connection within " + options.connectTimeoutMillis() / 1000.0 + " s"
        : cause.getMessage() == null ? cause.toString() : cause.getMessage();
    return refused != null ? refused : lost(method, why + ConnectFailure.hint(cause, options.security()), cause, false);
  }

  /** Returns the error of a request that was sent, or may have been, and has no answer. */
  PeerLost lost(ServiceMethod<?, ?> method, String why, Throwable cause) {
    return lost(method, why, cause, true);
  }

  private PeerLost lost(ServiceMethod<?, ?> method, String why, Throwable cause, boolean sent) {
    PeerLost frozen = liveness == null ? null : liveness.failure();
    return frozen != null ? new PeerLost(frozen.getMessage(), new NoResponseException(frozen, sent))
        : new PeerLost(peer + " is lost (" + method.methodName() + ": " + why + ")", new NoResponseException(cause, sent));
  }

  String peer() {
    return peer;
  }

  /**
   * Closes the connections; waits a second at most, since one that a peer keeps from ending ends with its process or
   * the network.
   */
  @Override
  public Future<Void> close() {
    Promise<Void> closed = VertxLoop.current(vertx).promise();
    loop.executeNow(() -> Future.join(clients.stream().map(of -> of.grpc.close()).toList()).<Void>mapEmpty()
        .timeout(CLOSE_MILLIS, TimeUnit.MILLISECONDS).otherwiseEmpty().onComplete(closed));
    return closed.future();
  }
}
