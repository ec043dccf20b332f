package io.regatta.protocol.security;

import io.regatta.core.loop.Stopwatch;
import io.regatta.protocol.connection.PeerLog;
import io.regatta.protocol.error.ErrorMapping;
import io.regatta.protocol.security.ProofVerifier.Verdict;
import io.regatta.protocol.vertx.SystemClock;
import io.vertx.core.Future;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.SocketAddress;
import io.vertx.grpc.common.GrpcStatus;
import java.util.Map;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Guard of a port's calls that refuses those that neither show nor prove the job's token. Any thread. */
final class TokenGuard {
  private static final Logger LOG = LoggerFactory.getLogger(TokenGuard.class);
  private static final String ADVICE = ": set node.token_file or REGATTA_NODE_TOKEN to the token of the job";
  private static final String OTHER = "a call with another token than the job's";

  private final LiveTokens tokens;
  private final Predicate<SocketAddress> secret;
  private final ProofVerifier proofs;
  private final PeerLog lines = new PeerLog(LOG);
  private final PeerLog exposed = new PeerLog(LOG);

  /** @param secret whether nobody on the way can read what a client sends from its address */
  TokenGuard(LiveTokens tokens, Predicate<SocketAddress> secret) {
    this.tokens = tokens;
    this.secret = secret;
    Stopwatch running = Stopwatch.start(SystemClock.get());
    proofs = new ProofVerifier(running::millis);
  }

  /** Returns true for a call with the token; any other has been refused and answered. */
  boolean admits(HttpServerRequest request) {
    if (tokens.isNone()) {
      return true;
    }
    String shown = request.getHeader(Token.HEADER);
    if (ProofHeader.isOne(shown)) {
      return admitsProof(request, ProofHeader.parse(shown));
    }
    Tokens.Entry entry = tokens.now().shownBy(shown).orElse(null);
    if (entry != null) {
      if (!secret.test(request.remoteAddress())) {
        exposed.warn("{} has sent the job's token without TLS, so others on the way may know it now: make a new "
            + "token, and let the client use TLS or prove the token (docs/protocol.md)", request.remoteAddress());
      }
      return may(request, entry);
    }
    return refuse(request, shown == null ? "a call without the job's token" : OTHER, null);
  }

  /** Returns true if this call shows or proves a token that may call another path. Answers and logs nothing. */
  boolean couldCall(HttpServerRequest request, String path) {
    if (tokens.isNone()) {
      return true;
    }
    String shown = request.getHeader(Token.HEADER);
    Map<String, String> proof = ProofHeader.isOne(shown) ? ProofHeader.parse(shown) : null;
    Tokens.Entry entry = proof != null ? tokens.now().ofId(proof.get("key")).orElse(null)
        : tokens.now().shownBy(shown).orElse(null);
    return entry != null && !tokens.isExpired(entry) && entry.allows(path) && (proof == null
        || proofs.check(proof, entry.token(), request.method().name(), request.uri()) == Verdict.PROVED
        && proofs.record(proof, entry.token()) == Verdict.PROVED);
  }

  private boolean admitsProof(HttpServerRequest request, Map<String, String> values) {
    Tokens.Entry entry = values == null ? null : tokens.now().ofId(values.get("key")).orElse(null);
    if (entry == null) {
      return refuse(request, OTHER, null);
    }
    Token token = entry.token();
    if (!values.containsKey("proof")) {
      answer(request, "waits for a proof of the job's token", proofs.challenge(values, token));
      return false;
    }
    Verdict verdict = proofs.check(values, token, request.method().name(), request.uri());
    if (verdict == Verdict.PROVED) {
      if (!may(request, entry)) {
        return false;
      }
      verdict = proofs.record(values, token); // last: a call that is refused anyway takes no session
    }
    return switch (verdict) {
      case PROVED -> true;
      case WRONG -> refuse(request, OTHER, null);
      case EXPIRED -> refuse(request, "a call whose proof is of an earlier time", proofs.challenge(values, token));
      case REPEATED -> refuse(request, "a call that has come before", null);
      case OVERLOADED -> refuse(request, "a call while it keeps as many sessions of this token as it can", null);
    };
  }

  /** Checks the roles of a token that has been shown or proved: only its holder learns them. */
  private boolean may(HttpServerRequest request, Tokens.Entry entry) {
    if (tokens.isExpired(entry)) {
      return refuse(request, "a call whose token " + entry.name() + " has expired", null);
    }
    if (!entry.allows(request.path())) {
      return refuse(request, "a call for which its token " + entry.name() + " has no role", null);
    }
    return true;
  }

  private boolean refuse(HttpServerRequest request, String why, String challenge) {
    lines.warn("refused {}: {} from {}", why, request.path(), request.remoteAddress());
    answer(request, "refuses " + why + ADVICE, challenge);
    return false;
  }

  /** @param challenge header {@code www-authenticate}; null: that of a bearer token */
  private static void answer(HttpServerRequest request, String why, String challenge) {
    String type = request.getHeader("content-type");
    HttpServerResponse response = request.response();
    boolean ends = request.version() != HttpVersion.HTTP_2; // a body that comes behind is read by nobody
    if (ends) {
      response.putHeader("connection", "close");
    }
    Future<Void> answered;
    if (type != null && type.startsWith("application/grpc")) {
      if (challenge != null) {
        response.putHeader("www-authenticate", challenge);
      }
      answered = response.putHeader("content-type", "application/grpc")
          .putHeader("grpc-status", Integer.toString(GrpcStatus.UNAUTHENTICATED.code))
          .putHeader("grpc-message", ErrorMapping.encode(why)).end();
    } else {
      answered = response.setStatusCode(401).putHeader("www-authenticate", challenge == null ? "Bearer" : challenge)
          .putHeader("content-type", "text/plain; charset=utf-8").end("this port " + why + "\n");
    }
    if (ends) {
      answered.onComplete(sent -> request.connection().close());
    }
  }
}
