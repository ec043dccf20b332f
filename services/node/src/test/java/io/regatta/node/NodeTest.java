package io.regatta.node;

import static io.regatta.node.HazelcastDirectoryTest.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.shard.Wait;
import io.regatta.node.testing.BlockedLoopGuard;
import io.regatta.node.testing.FreePorts;
import io.regatta.node.testing.LeftoverThreads;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.healthchecks.Status;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(BlockedLoopGuard.class)
class NodeTest {

  private static final HttpClient HTTP = HttpClient.newHttpClient();

  private static NodeConfig fixed() {
    return NodeConfig.defaults().withCluster(ClusterConfig.fixed(Map.of("rendezvous", "127.0.0.1:1")));
  }

  @Test
  void theAdminServerAnswersForPeopleAndForMonitoring() throws Exception {
    Node node = get(Node.start(fixed(), "parameter-server"));
    AtomicBoolean ready = new AtomicBoolean();
    node.readiness().register("shards", check -> check.complete(ready.get() ? Status.OK() : Status.KO()));
    node.metrics().counter("regatta.pushes", "shard", "0").increment(3);

    assertThat(fetch(node, "/health", "*/*").statusCode()).isEqualTo(200);
    HttpResponse<String> notReady = fetch(node, "/ready", "*/*");
    assertThat(notReady.statusCode()).isEqualTo(503);
    assertThat(new JsonObject(notReady.body()).getJsonArray("checks").getJsonObject(0).getString("name"))
        .isEqualTo("shards");
    ready.set(true);
    assertThat(fetch(node, "/ready", "*/*").statusCode()).isEqualTo(200);
    assertThat(fetch(node, "/metrics", "*/*").body()).contains("regatta_pushes_total{shard=\"0\"} 3.0")
        .contains("jvm_memory_used_bytes");

    assertThat(fetch(node, "/why", "text/plain").body()).isEqualTo("parameter-server: nothing waits\n");
    try (Waits.Handle handle = node.waits().begin("trainer 1", "pull of step 418", "shard 0 of job census",
        List.of(new Wait.Peer("trainer 3", 402, 0)))) {
      assertThat(fetch(node, "/why", "text/plain").body()).startsWith(
          "trainer 1 waits at shard 0 of job census for trainer 3 (last step 402), pull of step 418, since ");
      JsonObject wait = new JsonObject(fetch(node, "/why", "*/*").body()).getJsonArray("waits").getJsonObject(0);
      assertThat(wait.getString("who")).isEqualTo("trainer 1");
      assertThat(wait.getJsonArray("waits_for").getJsonObject(0).getLong("last_step")).isEqualTo(402);
      handle.waitsFor(List.of(new Wait.Peer("trainer 4", -1, 0)));
      assertThat(fetch(node, "/why", "text/plain").body()).contains("for trainer 4 (nothing seen yet)");
    }
    assertThat(fetch(node, "/elsewhere", "*/*").statusCode()).isEqualTo(404);
    get(node.close());
  }

  @Test
  void vertxsOwnMetricsAreShownWhereAskedFor() throws Exception {
    NodeConfig d = fixed();
    Node node = get(Node.start(new NodeConfig(d.cluster(), d.admin(), d.host(), 5, 5, 2, true), "rendezvous"));
    fetch(node, "/health", "*/*");
    assertThat(fetch(node, "/metrics", "*/*").body()).contains("vertx_http_server");
    assertThat(node.vertx().isNativeTransportEnabled())
        .isEqualTo(System.getProperty("os.name").equals("Linux"));
    get(node.close());
  }

  @Test
  void anAdminPortInUseIsSaidAndLeavesNothingBehind() {
    LeftoverThreads threads = LeftoverThreads.snapshot();
    Node first = get(Node.start(fixed(), "first"));
    NodeConfig d = fixed();
    NodeConfig same = new NodeConfig(d.cluster(), new AdminConfig(true, first.adminPort(), ""), "127.0.0.1", 5, 5, 0,
        false);
    assertThatThrownBy(() -> get(Node.start(same, "second")))
        .hasMessageContaining("admin port " + first.adminPort()).hasMessageContaining("in use");
    get(first.close());
    threads.assertNone();
  }

  @Test
  void anEmbeddedNodeLeavesTheUsersVertxAlone() {
    Vertx users = Vertx.vertx();
    Node node = Node.embedded(users, new HazelcastDirectory(users, new Waits(), 10), "rendezvous");
    assertThat(node.adminPort()).isEqualTo(-1);
    get(node.close());
    assertThat(node.close()).isSameAs(node.close());
    String id = get(users.deployVerticle(new io.vertx.core.VerticleBase() { }));
    assertThat(users.deploymentIDs()).containsExactly(id);
    get(users.close());
  }

  @Test
  void tenClusteredNodesOneAfterAnotherLeaveNothing() throws IOException {
    LeftoverThreads threads = LeftoverThreads.snapshot();
    String cluster = "test-" + UUID.randomUUID();
    long afterThird = 0;
    for (int round = 1; round <= 10; round++) {
      int port = FreePorts.one();
      Node node = get(Node.start(
          NodeConfig.defaults().withCluster(ClusterConfig.of(cluster, List.of("127.0.0.1:" + port), port)), "node"));
      get(node.directory().register(HazelcastDirectoryTest.instance("rendezvous", "r", 0, 1)));
      get(node.close());
      threads.assertNone();
      try (java.net.ServerSocket free = new java.net.ServerSocket(port)) {
        assertThat(free.isBound()).isTrue();
      }
      if (round == 3) {
        afterThird = usedBytes();
      }
    }
    // A leaked node would weigh megabytes (Hazelcast alone some 12 MB); the slack is for caches of classes and JIT.
    assertThat(usedBytes() - afterThird).isLessThan(6 << 20);
  }

  private static long usedBytes() {
    long least = Long.MAX_VALUE;
    for (int i = 0; i < 4; i++) {
      System.gc();
      least = Math.min(least, Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory());
    }
    return least;
  }

  private static HttpResponse<String> fetch(Node node, String path, String accept) throws Exception {
    return HTTP.send(HttpRequest.newBuilder(URI.create("http://" + node.host() + ":" + node.adminPort() + path))
        .header("Accept", accept).build(), HttpResponse.BodyHandlers.ofString());
  }
}
