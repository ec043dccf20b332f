package io.regatta.node.admin;

import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;

/**
 * Answers {@code /health} and {@code /ready}: at the admin port, and at the port of a service whose clients speak HTTP.
 * Schedulers ask without a token. Any thread.
 */
public final class Probes {

  private final ProcessDiagnostics diagnostics;

  Probes(ProcessDiagnostics diagnostics) {
    this.diagnostics = diagnostics;
  }

  /** Returns true if a request is for one of them. */
  public static boolean isProbe(HttpServerRequest request) {
    return "/health".equals(request.path()) || "/ready".equals(request.path());
  }

  /**
   * Answers a probe: 200 or 503, and the status as JSON. Callers that may ask {@code /why} also get the role of the
   * process and each check; to strangers, names and causes would reveal what runs here.
   */
  public void answer(HttpServerRequest request) {
    ("/ready".equals(request.path()) ? diagnostics.health().ready() : diagnostics.health().look())
        .onSuccess(checks -> checked(request, checks))
        .onFailure(e -> AdminServer.answer(request, 500, "text/plain", "cannot look: " + e + "\n"));
  }

  private void checked(HttpServerRequest request, List<Check> checks) {
    boolean up = checks.stream().allMatch(Check::up);
    JsonObject body = new JsonObject().put("status", status(up));
    if (diagnostics.security().couldCall(request, "/why")) {
      body = new JsonObject().put("role", diagnostics.role()).mergeIn(body).put("checks", details(checks));
    }
    AdminServer.answer(request, up ? 200 : 503, "application/json", body.encodePrettily() + "\n");
  }

  private static JsonArray details(List<Check> checks) {
    JsonArray details = new JsonArray();
    for (Check check : checks) {
      JsonObject detail = new JsonObject().put("name", check.name()).put("status", status(check.up()));
      details.add(check.up() ? detail : detail.put("cause", check.cause()));
    }
    return details;
  }

  private static String status(boolean up) {
    return up ? "UP" : "DOWN";
  }
}
