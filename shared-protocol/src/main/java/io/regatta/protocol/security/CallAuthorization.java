package io.regatta.protocol.security;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.vertx.core.Future;
import io.vertx.core.net.SocketAddress;
import java.util.function.Function;

/**
 * The header {@code authorization} of a client's calls to one peer. Over TLS and Unix domain sockets it holds the
 * token. Elsewhere, on loopback as well, it proves that the client knows the token, once the peer has proved the same.
 * That takes one request before the first call, and again every five minutes. Owned by one connection's user, or by a
 * client that {@link #forget}s the peer's proof when a call is refused.
 */
public final class CallAuthorization {

  private final PeerSecurity security;
  private final String peer;
  /** Null: the peer has not been asked yet. */
  private volatile Future<ProofSession> session;
  private volatile boolean proved;

  /** @param peer for messages, e.g. {@code rendezvous at 10.0.0.7:36000} */
  public CallAuthorization(PeerSecurity security, String peer) {
    this.security = security;
    this.peer = peer;
  }

  /**
   * Returns the header of one call; null if there is no token.
   *
   * @param remote address of the connection that the call uses
   * @param method of HTTP, e.g. {@code POST}
   * @param path with the query
   * @param greet sends any request with the given header {@code authorization} to the peer, and returns the header
   *     {@code www-authenticate} of the answer, or null
   * @return fails with {@link InvalidInput} if the peer does not prove that it knows the token
   */
  public Future<String> header(SocketAddress remote, String method, String path,
      Function<String, Future<String>> greet) {
    if (security.token().isNone()) {
      return Future.succeededFuture();
    }
    if (security.mayShowToken(remote)) {
      return Future.succeededFuture(security.token().headerValue());
    }
    Future<ProofSession> now = session;
    if (now == null || now.failed() || now.succeeded() && !now.result().isUsable(security.token())) {
      ProofSession.Greeting greeting = security.greeting();
      now = greet.apply(greeting.header()).map(challenge -> greeting.answered(challenge, peer))
          .onSuccess(answered -> proved = true);
      session = now;
    }
    return now.map(proved -> proved.header(method, path));
  }

  /** Returns true if the peer has ever proved that it knows the token; false if that is not needed. */
  public boolean wasProved() {
    return proved;
  }

  /** Returns whether a header {@code www-authenticate} asks for such a proof; null: there is no header. */
  public static boolean isChallenge(String header) {
    return ProofHeader.isOne(header);
  }

  /** Asks the peer again before the next call: it may be another process now. */
  public void forget() {
    session = null;
  }
}
