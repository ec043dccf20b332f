package io.regatta.protocol.security;

import io.regatta.protocol.error.ErrorMapping;
import io.vertx.core.Future;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import io.vertx.grpc.common.GrpcStatus;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Stands before the calls of a port, and refuses those that do not show the job's token. Any thread. */
final class TokenGuard {
  private static final Logger LOG = LoggerFactory.getLogger(TokenGuard.class);
  private static final String ADVICE = ": set node.token_file or REGATTA_NODE_TOKEN to the token of the job";

  private final Token token;
  private final PeerLog lines = new PeerLog(LOG);

  TokenGuard(Token token) {
    this.token = token;
  }

  boolean shows(HttpServerRequest request) {
    return token.isShownBy(request.getHeader(Token.HEADER));
  }

  /** Answers a call that does not show the token. */
  void refuse(HttpServerRequest request) {
    String why = request.getHeader(Token.HEADER) == null ? "a call without the job's token"
        : "a call with another token than the job's";
    lines.warn("refused {}: {} from {}", why, request.path(), request.remoteAddress());
    refuse(request, "refuses " + why + ADVICE);
  }

  private static void refuse(HttpServerRequest request, String why) {
    String type = request.getHeader("content-type");
    HttpServerResponse response = request.response();
    boolean ends = request.version() != HttpVersion.HTTP_2; // a body that comes behind is read by nobody
    if (ends) {
      response.putHeader("connection", "close");
    }
    Future<Void> answered;
    if (type != null && type.startsWith("application/grpc")) {
      answered = response.putHeader("content-type", "application/grpc")
          .putHeader("grpc-status", Integer.toString(GrpcStatus.UNAUTHENTICATED.code))
          .putHeader("grpc-message", ErrorMapping.encode(why)).end();
    } else {
      answered = response.setStatusCode(401).putHeader("www-authenticate", "Bearer")
          .putHeader("content-type", "text/plain; charset=utf-8").end("this port " + why + "\n");
    }
    if (ends) {
      answered.onComplete(sent -> request.connection().close());
    }
  }
}
