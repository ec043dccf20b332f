package io.regatta.protocol.stream;

import io.netty.channel.ConnectTimeoutException;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.loop.Loop;
import io.regatta.protocol.security.CallAuthorization;
import io.regatta.protocol.security.ConnectFailure;
import io.regatta.protocol.security.GreetingCall;
import io.regatta.protocol.security.Token;
import io.regatta.protocol.vertx.VertxLoop;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClientAgent;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import java.io.FileNotFoundException;
import java.net.ConnectException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A client that opens tensor streams. To a service of the same JVM they are in-process if both allow it. To a service
 * of the same machine they use a Unix domain socket if both allow it, and otherwise TCP. The latter two are HTTP/2, and
 * streams to the same host and port share one connection. Owned by one event loop: all calls are made on it, and the
 * streams belong to the context that opened them.
 */
public final class TensorStreamClient implements TensorStreams {
  private final Vertx vertx;
  private final StreamOptions options;
  private final HttpClientAgent client;
  private final Map<HttpConnection, Connection> connections = new HashMap<>();
  private final Map<LocalStreams, LocalStreams.Connection> handovers = new HashMap<>();
  /** Version of the certificates that the client shows. */
  private Object shown;

  /**
   * A connection to a peer.
   *
   * @param lane completes when it is known whether streams can go past Vert.x
   */
  private record Connection(Liveness liveness, Future<Boolean> lane, CallAuthorization authorization) {}

  public TensorStreamClient(Vertx vertx, StreamOptions options) {
    this.vertx = vertx;
    this.options = options;
    shown = options.security().version();
    client = vertx.createHttpClient(options.security().client(options.clientOptions()), new PoolOptions().setHttp2MaxSize(1));
  }

  @Override
  public Future<TensorStream> open(String host, int port, String path) {
    VertxLoop loop = VertxLoop.current(vertx);
    String peer = host + ":" + port;
    Future<TensorStream> byHand = LocalStreams.open(loop, options, host, port, path, handovers);
    if (byHand != null) {
      return byHand;
    }
    RequestOptions request = new RequestOptions().setMethod(HttpMethod.POST).setHost(host).setPort(port).setURI(path)
        // Until the peer speaks HTTP/2: a frozen one accepts the connection, and that is all.
        .setConnectTimeout(options.connectTimeoutMillis())
        .putHeader("content-type", "application/grpc").putHeader("te", "trailers");
    return request(request, host, port).compose(r -> {
      r.setChunked(true);
      Connection connection = connection(loop, r.connection(), peer);
      ClientTensorStream stream = new ClientTensorStream(this, loop, r, connection.liveness, peer, options);
      r.response().onSuccess(answer -> { // if its process does not know of this proof, the next stream greets it again
        if (CallAuthorization.isChallenge(answer.getHeader("www-authenticate"))) {
          connection.authorization.forget();
        }
      });
      Future<String> authorized = connection.authorization.header(r.connection().remoteAddress(), "POST", path,
              header -> GreetingCall.send(vertx, host, port, header, options.connectTimeoutMillis()))
          .onFailure(e -> giveUp(r, connection.authorization));
      return authorized.compose(header -> {
        if (header != null) {
          r.putHeader(Token.HEADER, header);
        }
        return connection.lane;
      }).compose(v -> r.sendHead()).map(v -> stream.open());
    }).recover(e -> Future.failedFuture(lost(peer, path, e)));
  }

  /**
   * Gives up a request that has not been sent. The library never takes back its place among the connection's streams,
   * and a connection has few before authentication: one that has never had a stream is closed.
   */
  private static void giveUp(HttpClientRequest request, CallAuthorization authorization) {
    request.reset();
    if (!authorization.wasProved()) {
      request.connection().close();
    }
  }

  private RegattaException lost(String peer, String path, Throwable e) {
    InvalidInput refused = ConnectFailure.refusal(peer, e, options.security());
    return refused != null ? refused : new PeerLost("cannot open a tensor stream to " + peer + path + ": "
        + (e.getMessage() == null ? e.toString() : e.getMessage()) + ConnectFailure.hint(e, options.security()), e);
  }

  /** Requests over the socket that a service of this machine has beside its port, or else over TCP. */
  private Future<HttpClientRequest> request(RequestOptions request, String host, int port) {
    if (shown != options.security().version()) {
      shown = options.security().version();
      options.security().renew(client, true);
    }
    if (!options.transport().isUnixAllowed()) {
      return client.request(request);
    }
    return HostSocket.find(vertx, host, port).compose(local -> local == null ? client.request(request)
        : client.request(local(request).setServer(local).setSsl(false)).recover(e -> isNobody(e) ? client.request(request)
            : Future.failedFuture(e)));
  }

  private RequestOptions local(RequestOptions request) {
    RequestOptions local = new RequestOptions(request);
    return options.transport().isSharedMemoryAllowed() ? local.putHeader(SharedPayloads.HEADER, SharedPayloads.HEADER_VALUE) : local;
  }

  /**
   * Returns true if no process listens at the stream's address. A socket whose process was killed refuses; one that is
   * frozen does not answer, and does not over TCP either.
   */
  public static boolean isNobody(Throwable e) {
    return (e instanceof ConnectException || e instanceof FileNotFoundException) && !(e instanceof ConnectTimeoutException);
  }

  private Connection connection(Loop loop, HttpConnection connection, String peer) {
    return connections.computeIfAbsent(connection, c -> {
      c.closeHandler(v -> loop.execute(() -> {
        Connection gone = connections.remove(c);
        if (gone != null) {
          gone.liveness.stop();
        }
      }));
      return new Connection(Liveness.watch(vertx, c, peer, options), options.lane(c),
          new CallAuthorization(options.security(), peer));
    });
  }

  @Override
  public Future<Void> close() {
    List.copyOf(handovers.values())
        .forEach(c -> c.to().streams().forEach(s -> s.breakOff("its client has closed")));
    return client.close();
  }
}
