package io.regatta.node.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.node.Node;
import io.regatta.node.directory.Directory.Instance;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Blocking helpers for tests of nodes and directories. Stateless, any thread but an event loop. */
public final class Nodes {

  private static final HttpClient HTTP = HttpClient.newHttpClient();

  private Nodes() {}

  /** The result, within 60 s, or the future's failure. */
  public static <T> T get(Future<T> future) {
    try {
      return future.await(60, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw new AssertionError("not done within 60 s", e);
    }
  }

  /** An instance at a loopback port, with an attribute. */
  public static Instance instance(String service, String id, int index, int port) {
    return new Instance(service, id, index, "127.0.0.1", port, 1, Map.of("zone", "a"));
  }

  /** Waits until the node's directory lists this number of instances of the service, for 60 s at most. */
  public static void poll(Node node, String service, int size) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (get(node.directory().list(service)).size() != size) {
      assertThat(System.nanoTime()).as("%d x %s within 60 s", size, service).isLessThan(deadline);
      get(node.vertx().timer(50, TimeUnit.MILLISECONDS).mapEmpty());
    }
  }

  /** The lines of {@code /health} or {@code /ready}, as {@code name: UP} or {@code name: DOWN, cause}. */
  public static List<String> checks(Node node, String path, int status) throws Exception {
    HttpResponse<String> answer = fetch(node, path, "*/*");
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    assertThat(new JsonObject(answer.body()).getString("status")).isEqualTo(status == 200 ? "UP" : "DOWN");
    return lines(answer);
  }

  private static List<String> lines(HttpResponse<String> answer) {
    return new JsonObject(answer.body()).getJsonArray("checks").stream().map(JsonObject.class::cast).map(check -> check.getString("name") + ": "
        + check.getString("status") + (check.containsKey("cause") ? ", " + check.getString("cause") : "")).toList();
  }

  /**
   * Waits, for 60 s at most, until that are the {@link #checks}: what is given up after a time limit may be given up once on a machine
   * that stands still.
   */
  public static void awaitChecks(Node node, String path, int status, String... wanted) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    HttpResponse<String> answer = fetch(node, path, "*/*");
    while (!(answer.statusCode() == status && lines(answer).equals(List.of(wanted))) && System.nanoTime() < deadline) {
      get(node.vertx().timer(50, TimeUnit.MILLISECONDS).mapEmpty());
      answer = fetch(node, path, "*/*");
    }
    assertThat(lines(answer)).containsExactly(wanted);
    assertThat(answer.statusCode()).isEqualTo(status);
  }

  /** Waits, for 60 s at most, until a page of the node's admin server answers with this status. */
  public static void awaitStatus(Node node, String path, int status) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (fetch(node, path, "*/*").statusCode() != status && System.nanoTime() < deadline) {
      get(node.vertx().timer(50, TimeUnit.MILLISECONDS).mapEmpty());
    }
    assertThat(fetch(node, path, "*/*").statusCode()).isEqualTo(status);
  }

  /** GETs a page of the node's admin server. */
  public static HttpResponse<String> fetch(Node node, String path, String accept) throws Exception {
    return HTTP.send(HttpRequest.newBuilder(URI.create("http://" + node.host() + ":" + node.adminPort() + path))
        .header("Accept", accept).build(), HttpResponse.BodyHandlers.ofString());
  }
}
