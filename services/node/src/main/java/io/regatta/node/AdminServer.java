package io.regatta.node;

import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.shard.Wait;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.BindException;
import java.util.List;
import java.util.stream.Collectors;

/**
 * One port for people and monitoring: {@code /health}, {@code /ready}, {@code /metrics} (Prometheus text),
 * {@code /why} (JSON, or plain sentences for {@code Accept: text/plain}). Owned by its {@link Node}; runs on one event
 * loop, and renders metrics on a worker thread.
 */
public final class AdminServer {

  private final Vertx vertx;
  private final String role;
  private final PrometheusMeterRegistry metrics;
  private final Waits waits;
  private final Health health;
  private final Hosted hosted;
  private HttpServer server;

  private AdminServer(Vertx vertx, String role, PrometheusMeterRegistry metrics, Waits waits, Health health,
      Hosted hosted) {
    this.vertx = vertx;
    this.role = role;
    this.metrics = metrics;
    this.waits = waits;
    this.health = health;
    this.hosted = hosted;
  }

  /** Starts listening; fails with {@link InvalidInput} if the port is in use. */
  static Future<AdminServer> start(Vertx vertx, String role, String host, int port, PrometheusMeterRegistry metrics,
      Waits waits, Health health, Hosted hosted) {
    AdminServer admin = new AdminServer(vertx, role, metrics, waits, health, hosted);
    admin.server = vertx.createHttpServer().requestHandler(admin::handle);
    return admin.server.listen(port, host).map(admin).recover(e -> Future.failedFuture(
        e instanceof BindException || String.valueOf(e.getMessage()).contains("in use")
            ? new InvalidInput("admin port " + port + " on " + host + " is in use: choose another node.admin.port, or "
                + "0 for any free one", e)
            : e));
  }

  /** The port it listens on. */
  public int port() {
    return server.actualPort();
  }

  /** Stops listening. */
  public Future<Void> close() {
    return server.close();
  }

  private void handle(HttpServerRequest request) {
    if (request.method() != HttpMethod.GET && request.method() != HttpMethod.HEAD) {
      answer(request, 405, "text/plain", "only GET\n");
      return;
    }
    switch (request.path()) {
      case "/health" -> health.look().onSuccess(checks -> checked(request, checks))
          .onFailure(e -> answer(request, 500, "text/plain", "cannot look: " + e + "\n"));
      case "/ready" -> checked(request, hosted.ready());
      case "/metrics" -> vertx.executeBlocking(() -> metrics.scrape(), false)
          .onSuccess(text -> answer(request, 200, "text/plain; version=0.0.4; charset=utf-8", text))
          .onFailure(e -> answer(request, 500, "text/plain", "cannot render the metrics: " + e + "\n"));
      case "/why" -> waits.list()
          .onSuccess(list -> why(request, list))
          .onFailure(e -> answer(request, 500, "text/plain", "cannot list the waits: " + e + "\n"));
      default -> answer(request, 404, "text/plain", "here are /health, /ready, /metrics and /why\n");
    }
  }

  private void checked(HttpServerRequest request, List<Check> checks) {
    boolean up = checks.stream().allMatch(Check::up);
    JsonArray details = new JsonArray();
    for (Check check : checks) {
      JsonObject detail = new JsonObject().put("name", check.name()).put("status", status(check.up()));
      details.add(check.up() ? detail : detail.put("cause", check.cause()));
    }
    JsonObject body = new JsonObject().put("role", role).put("status", status(up)).put("checks", details);
    answer(request, up ? 200 : 503, "application/json", body.encodePrettily() + "\n");
  }

  private static String status(boolean up) {
    return up ? "UP" : "DOWN";
  }

  private void why(HttpServerRequest request, List<Wait> list) {
    long now = System.currentTimeMillis();
    String accept = request.getHeader("Accept");
    if (accept != null && accept.startsWith("text/plain")) {
      answer(request, 200, "text/plain; charset=utf-8", list.isEmpty() ? role + ": nothing waits\n"
          : list.stream().map(wait -> wait.sentence(now) + "\n").collect(Collectors.joining()));
      return;
    }
    JsonArray entries = new JsonArray();
    for (Wait wait : list) {
      JsonArray peers = new JsonArray();
      for (Wait.Peer peer : wait.waitsFor()) {
        peers.add(new JsonObject().put("name", peer.name()).put("last_step", peer.lastStep())
            .put("last_seen_ms", peer.lastSeenMillis()));
      }
      entries.add(new JsonObject().put("who", wait.who()).put("operation", wait.operation())
          .put("where", wait.where()).put("since_ms", wait.sinceMillis())
          .put("seconds", (now - wait.sinceMillis()) / 1000.0).put("waits_for", peers)
          .put("sentence", wait.sentence(now)));
    }
    answer(request, 200, "application/json",
        new JsonObject().put("role", role).put("waits", entries).encodePrettily() + "\n");
  }

  private static void answer(HttpServerRequest request, int status, String type, String body) {
    request.response().setStatusCode(status).putHeader("Content-Type", type).end(body)
        .onFailure(e -> request.connection().close());
  }
}
