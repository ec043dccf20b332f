package io.regatta.node.admin;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Wait;
import io.regatta.node.process.PlainVertx;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.vertx.NettyParts;
import io.regatta.protocol.vertx.SystemClock;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.BindException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * The port for people and monitoring: {@code /health}, {@code /ready}, {@code /metrics} (Prometheus text), {@code /why}
 * (JSON, or plain sentences for {@code Accept: text/plain}). Owned by its node's {@link ProcessDiagnostics}. It runs on
 * the one event loop of a small Vertx of its own, so it answers before there is a cluster and while the services' loops
 * are blocked. Metrics are rendered on a worker thread. Schedulers' probes have neither certificate nor token:
 * {@code /health} and {@code /ready} are open to them, over TLS if the process has it.
 */
final class AdminServer {
  /** Limit of a connection without a byte, twice the usual interval of scrapes: strangers cannot hold it open. */
  private static final int IDLE_MILLIS = 120_000;
  /** Requests that an HTTP/2 connection may have open at a time. */
  private static final int STREAMS_PER_CONNECTION = 8;
  /** Answers to {@code /metrics} that are rendered or not taken yet, at a time: each is a few hundred kB. */
  static final int MOST_SCRAPES = 8;
  /** Time in which a client must take such an answer. */
  private static final int TAKEN_MILLIS = 10_000;

  private final Vertx vertx;
  private final ProcessDiagnostics diagnostics;
  private final int takenMillis;
  private HttpServer server;
  /** Owned by the event loop. */
  private int scrapes;

  private AdminServer(Vertx vertx, ProcessDiagnostics diagnostics, int takenMillis) {
    this.vertx = vertx;
    this.diagnostics = diagnostics;
    this.takenMillis = takenMillis;
  }

  /** Starts listening. If the port is in use, it fails with {@link InvalidInput} and leaves nothing running. */
  static Future<AdminServer> start(String host, int port, ProcessDiagnostics diagnostics) {
    return start(host, port, diagnostics, IDLE_MILLIS, TAKEN_MILLIS);
  }

  /** Starts listening with other limits for a connection without a byte, and for a client to take its metrics. */
  static Future<AdminServer> start(String host, int port, ProcessDiagnostics diagnostics, int idleMillis,
      int takenMillis) {
    Vertx own = Vertx.vertx(PlainVertx.options().setEventLoopPoolSize(1)
        .setWorkerPoolSize(1).setInternalBlockingPoolSize(1));
    AdminServer admin = new AdminServer(own, diagnostics, takenMillis);
    HttpServerOptions options = new HttpServerOptions().setIdleTimeout(idleMillis)
        .setIdleTimeoutUnit(TimeUnit.MILLISECONDS);
    options.getInitialSettings().setMaxConcurrentStreams(STREAMS_PER_CONNECTION);
    Promise<AdminServer> promise = Promise.promise();
    try {
      admin.server = diagnostics.security().askingServer(own, options).requestHandler(admin.calls());
    } catch (InvalidInput e) {
      return admin.close().transform(closed -> Future.failedFuture(e));
    }
    admin.server.listen(port, host).onComplete(listening -> {
      if (listening.succeeded()) {
        promise.complete(admin);
      } else {
        admin.close().onComplete(closed -> promise.fail(refused(listening.cause(), host, port)));
      }
    });
    return promise.future();
  }

  private static Throwable refused(Throwable e, String host, int port) {
    return e instanceof BindException || String.valueOf(e.getMessage()).contains("in use")
        ? new InvalidInput("admin port " + port + " on " + host + " is in use: choose another node.admin.port, or 0 for "
            + "any free one", e)
        : e;
  }

  /** Returns the port it listens on. */
  int port() {
    return server.actualPort();
  }

  /** Stops listening and ends its threads; bound to no context. */
  Future<Void> close() {
    Promise<Void> closed = Promise.promise();
    vertx.close().onComplete(closed);
    return closed.future();
  }

  private Handler<HttpServerRequest> calls() {
    Handler<HttpServerRequest> open = diagnostics.security().open(this::handleOpen);
    return request -> {
      if (!isRead(request) || Probes.isProbe(request)) {
        open.handle(request);
      } else {
        handleGuarded(request);
      }
    };
  }

  private static boolean isRead(HttpServerRequest request) {
    return request.method() == HttpMethod.GET || request.method() == HttpMethod.HEAD;
  }

  private void handleOpen(HttpServerRequest request) {
    if (isRead(request)) {
      diagnostics.probes().answer(request);
    } else {
      answer(request, 405, "text/plain", "only GET\n");
    }
  }

  private void handleGuarded(HttpServerRequest request) {
    if (!diagnostics.security().admits(request)) {
      return;
    }
    if (diagnostics.security().isMutual() && !PeerSecurity.hasCertificate(request)) {
      answer(request, 403, "text/plain", "only /health and /ready are open to clients without a certificate\n");
      return;
    }
    switch (request.path()) {
      case "/metrics" -> metrics(request);
      case "/why" -> diagnostics.waits().list()
          .onSuccess(list -> why(request, list))
          .onFailure(e -> answer(request, 500, "text/plain", "cannot list the waits: " + e + "\n"));
      default -> answer(request, 404, "text/plain", "here are /health, /ready, /metrics and /why\n");
    }
  }

  private void metrics(HttpServerRequest request) {
    if (scrapes >= MOST_SCRAPES) {
      answer(request, 503, "text/plain", scrapes + " requests for /metrics are being answered, and no more at a time: "
          + "ask again later, and read each answer\n");
      return;
    }
    scrapes++;
    vertx.executeBlocking(() -> diagnostics.metrics().scrape(), false).transform(text -> text.succeeded()
        ? answerInTime(request, 200, "text/plain; version=0.0.4; charset=utf-8", text.result())
        : answerInTime(request, 500, "text/plain", "cannot render the metrics: " + text.cause() + "\n"))
        .onComplete(taken -> scrapes--);
  }

  /** Closes the connection at once if the client does not take the answer in time. */
  private Future<Void> answerInTime(HttpServerRequest request, int status, String type, String body) {
    long late = vertx.setTimer(takenMillis, id -> NettyParts.cut(NettyParts.channel(request.connection())));
    return answer(request, status, type, body).onComplete(taken -> vertx.cancelTimer(late));
  }

  private void why(HttpServerRequest request, List<Wait> list) {
    long now = SystemClock.get().epochMillis();
    String accept = request.getHeader("Accept");
    if (accept != null && accept.startsWith("text/plain")) {
      answerInTime(request, 200, "text/plain; charset=utf-8", list.isEmpty()
          ? diagnostics.role() + ": nothing waits\n" : list.stream().map(wait -> wait.sentence(now) + "\n").collect(Collectors.joining()));
      return;
    }
    JsonArray entries = new JsonArray();
    for (Wait wait : list) {
      JsonArray peers = new JsonArray();
      for (Wait.Peer peer : wait.waitsFor()) {
        peers.add(new JsonObject().put("name", peer.name())
            .put("last_step", peer.lastStep() < 0 ? null : peer.lastStep())
            .put("last_seen_ms", peer.lastSeenMillis() <= 0 ? null : peer.lastSeenMillis()));
      }
      entries.add(new JsonObject().put("who", wait.who()).put("operation", wait.operation())
          .put("where", wait.where()).put("since_ms", wait.sinceMillis())
          .put("seconds", (now - wait.sinceMillis()) / 1000.0).put("waits_for", peers)
          .put("sentence", wait.sentence(now)));
    }
    answerInTime(request, 200, "application/json",
        new JsonObject().put("role", diagnostics.role()).put("waits", entries).encodePrettily() + "\n");
  }

  /** Returns a future that completes when the client has taken the answer. */
  static Future<Void> answer(HttpServerRequest request, int status, String type, String body) {
    return request.response().setStatusCode(status).putHeader("Content-Type", type).end(body)
        .onFailure(e -> request.connection().close());
  }
}
