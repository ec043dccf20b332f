package io.regatta.node;

import static io.regatta.node.testing.Nodes.checks;
import static io.regatta.node.testing.Nodes.fetch;
import static io.regatta.node.testing.Nodes.get;
import static io.regatta.node.testing.Nodes.instance;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.hazelcast.config.Config;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Wait;
import io.regatta.node.address.HostPort;
import io.regatta.node.address.PublishedAddress;
import io.regatta.node.admin.AdminConfig;
import io.regatta.node.admin.Hosted;
import io.regatta.node.admin.Waits;
import io.regatta.node.cluster.ClusterConfig;
import io.regatta.node.directory.HazelcastDirectory;
import io.regatta.node.member.VertxMember;
import io.regatta.node.settings.Settings;
import io.regatta.node.testing.BlockedLoopGuard;
import io.regatta.node.testing.FreePorts;
import io.regatta.node.testing.LeftoverThreads;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.json.JsonObject;
import io.vertx.spi.cluster.hazelcast.ConfigUtil;
import io.vertx.spi.cluster.hazelcast.HazelcastClusterManager;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(BlockedLoopGuard.class)
class NodeTest {

  private static NodeConfig fixed() {
    return NodeConfig.defaults().withCluster(ClusterConfig.fixed(Map.of("rendezvous", "127.0.0.1:1")));
  }

  /** To trainers who meet at a rendezvous on another machine, loopback would be of no use. */
  @Test
  void whereEndpointsAreFixedAHostThatIsNotConfiguredIsThatWhichRoutesToTheRendezvous() {
    String toward;
    try {
      toward = PublishedAddress.toward("", new HostPort("192.0.2.9", 1)).address();
    } catch (InvalidInput e) {
      Assumptions.abort("this machine has loopback only");
      return;
    }
    ClusterConfig far = ClusterConfig.fixed(Map.of("parameter-server", "127.0.0.1:2", "rendezvous", "192.0.2.9:1"));
    Node node = get(Node.start(NodeConfig.defaults().withCluster(far).withSecurity(new SecurityConfig(true, "", 0)),
        "trainer 0"));
    assertThat(node.host()).isEqualTo(toward).isNotEqualTo("127.0.0.1");
    get(node.close());
    Node near = get(Node.start(fixed(), "trainer 0"));
    assertThat(near.host()).isEqualTo("127.0.0.1");
    get(near.close());
  }

  /** As behind a translation of addresses: what is announced need not be an address of this machine. */
  @Test
  void aNodeListensOnOneAddressAndAnnouncesAnother() throws Exception {
    NodeConfig config = Settings.bind(new JsonObject().put("host", "elsewhere.example").put("bind", "127.0.0.1"), NodeConfig.class);
    Node node = get(Node.start(config.withCluster(fixed().cluster()), "parameter-server"));
    assertThat(node.host()).isEqualTo("elsewhere.example");
    assertThat(node.bind()).isEqualTo("127.0.0.1");
    HttpClient client = node.vertx().createHttpClient();
    HttpClientRequest health = get(client.request(HttpMethod.GET, node.adminPort(), "127.0.0.1", "/health"));
    assertThat(get(health.send()).statusCode()).isEqualTo(200);
    get(client.close());
    get(node.close());
    Node member = get(Node.start(Settings.bind(new JsonObject().put("cluster", new JsonObject().put("name", "t" + UUID.randomUUID())
        .put("published_host", "localhost")), NodeConfig.class), "parameter-server"));
    assertThat(VertxMember.address(member.vertx())).contains("localhost");
    assertThat(member.host()).isEqualTo("127.0.0.1");
    get(member.close());
  }

  @Test
  void aVerticleThatStillStartsWhenTheNodeClosesEndsForNobody() throws Exception {
    Node node = get(Node.start(fixed(), "parameter-server"));
    AtomicReference<Throwable> unhandled = new AtomicReference<>();
    node.vertx().exceptionHandler(unhandled::set);
    CountDownLatch starting = new CountDownLatch(2);
    Promise<Void> late = Promise.promise();
    Promise<Void> broken = Promise.promise();
    List<Future<String>> deployed = new ArrayList<>();
    for (Promise<Void> start : List.of(late, broken)) {
      deployed.add(node.deploy(context -> {
        starting.countDown();
        return start.future();
      }));
    }
    assertThat(starting.await(20, TimeUnit.SECONDS)).isTrue();
    get(node.close());
    assertThat(deployed).extracting(Future::cause).as("known before its loops end").hasOnlyElementsOfType(Cancelled.class);
    late.complete();
    broken.fail("what it waited for is gone");
    assertThat(unhandled).hasNullValue();
  }

  @Test
  void nobodyWaitsForServicesAnyMoreWhileOthersAreStopped() {
    Node node = get(Node.start(fixed(), "parameter-server"));
    Promise<Void> stopping = Promise.promise();
    get(node.deploy(new VerticleBase() {
      @Override
      public Future<?> stop() {
        return stopping.future();
      }
    }));
    Future<?> waiting = node.directory().awaitAny("rendezvous", Duration.ofMinutes(1), "parameter server");
    Future<Void> closed = node.close();
    assertThatThrownBy(() -> get(waiting)).isInstanceOf(Cancelled.class);
    assertThatThrownBy(() -> get(node.directory().awaitAny("rendezvous", Duration.ofMinutes(1), "trainer")))
        .isInstanceOf(Cancelled.class);
    assertThat(closed.isComplete()).isFalse();
    stopping.complete();
    get(closed);
  }

  @Test
  void theAdminServerAnswersForPeopleAndForMonitoring() throws Exception {
    Node node = get(Node.start(fixed(), "parameter-server"));
    node.metrics().counter("regatta.pushes", "shard", "0").increment(3);

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
      assertThat(wait.getJsonArray("waits_for").getJsonObject(0).containsKey("last_seen_ms")).isTrue();
      assertThat(wait.getJsonArray("waits_for").getJsonObject(0).getLong("last_seen_ms")).isNull();
      handle.waitsFor(List.of(Wait.Peer.named("the shards"), new Wait.Peer("trainer 5", -1, 1)));
      JsonObject body = new JsonObject(fetch(node, "/why", "*/*").body());
      assertThat(body.getJsonArray("waits").getJsonObject(0).getJsonArray("waits_for").encode()).isEqualTo(
          "[{\"name\":\"the shards\",\"last_step\":null,\"last_seen_ms\":null},"
          + "{\"name\":\"trainer 5\",\"last_step\":null,\"last_seen_ms\":1}]");
      handle.waitsFor(List.of(new Wait.Peer("trainer 4", -1, 0)));
      assertThat(fetch(node, "/why", "text/plain").body()).contains("for trainer 4 (nothing seen yet)");
    }
    assertThat(fetch(node, "/elsewhere", "*/*").statusCode()).isEqualTo(404);
    get(node.close());
  }

  @Test
  void aProcessIsReadyWhenEverythingThatItHostsServes() throws Exception {
    Node node = get(Node.start(fixed(), "parameter-server"));
    assertThat(checks(node, "/ready", 503)).containsExactly("services: DOWN, none has been started");
    Hosted.Service server = node.starting("parameter-server 0");
    Hosted.Service shard = node.starting("shard 0");
    shard.serves();
    assertThat(checks(node, "/ready", 503))
        .containsExactly("parameter-server 0: DOWN, is starting", "shard 0: UP");
    server.serves();
    assertThat(checks(node, "/ready", 200)).containsExactly("parameter-server 0: UP", "shard 0: UP");
    shard.stopped();
    assertThat(checks(node, "/ready", 200)).containsExactly("parameter-server 0: UP");
    server.failed(new IllegalStateException("port 1 is in use"));
    server.stopped();
    assertThat(checks(node, "/ready", 503)).containsExactly("parameter-server 0: DOWN, port 1 is in use");
    node.starting("parameter-server 0").serves();
    assertThat(checks(node, "/ready", 200)).containsExactly("parameter-server 0: UP");
    get(node.close());
  }

  @Test
  void vertxsOwnMetricsAreShownWhereAskedFor() throws Exception {
    NodeConfig d = fixed();
    Node node = get(Node.start(d.with(c -> c.eventLoops(2).vertxMetrics(true)), "rendezvous"));
    HttpClient client = node.vertx().createHttpClient();
    get(node.vertx().createHttpServer().requestHandler(request -> request.response().end()).listen(0, "127.0.0.1")
        .compose(server -> client.request(HttpMethod.GET, server.actualPort(), "127.0.0.1", "/"))
        .compose(HttpClientRequest::send));
    get(client.close());
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
    NodeConfig same = d.with(c -> c.admin(new AdminConfig(true, first.adminPort(), "", 2000)).host("127.0.0.1"));
    assertThatThrownBy(() -> get(Node.start(same, "second")))
        .hasMessageContaining("admin port " + first.adminPort()).hasMessageContaining("in use");
    get(first.close());
    threads.assertNone();
  }

  @Test
  void anAddressThatThisMachineDoesNotHaveIsNamedWithItsKey() {
    LeftoverThreads threads = LeftoverThreads.snapshot();
    NodeConfig d = NodeConfig.defaults();
    for (NodeConfig base : List.of(d, fixed())) {
      assertThatThrownBy(() -> get(Node.start(
          base.with(c -> c.host("192.0.2.1").security(new SecurityConfig(true, "", 0))), "server")))
          .isInstanceOf(InvalidInput.class).hasMessageContainingAll("node.host", "192.0.2.1");
      assertThatThrownBy(() -> get(Node.start(base.with(c -> c
          .admin(new AdminConfig(true, 0, "192.0.2.1", 2000)).security(new SecurityConfig(true, "", 0))), "server")))
          .isInstanceOf(InvalidInput.class).hasMessageContainingAll("node.admin.host", "192.0.2.1");
    }
    threads.assertNone();
  }

  @Test
  void anEmbeddedNodeLeavesTheUsersVertxAlone() {
    Vertx users = Vertx.vertx();
    Node node = Node.embedded(users, new HazelcastDirectory(users, new Waits(), 10), "rendezvous");
    assertThat(node.adminPort()).isEqualTo(-1);
    get(node.close());
    assertThat(node.close()).isSameAs(node.close());
    String id = get(users.deployVerticle(new VerticleBase() { }));
    assertThat(users.deploymentIDs()).containsExactly(id);
    get(users.close());
  }

  @Test
  void theAdminServerOfAnEmbeddedNodeEndsWithTheUsersVertx() {
    LeftoverThreads threads = LeftoverThreads.snapshot();
    Vertx users = Vertx.vertx();
    Node node = get(Node.embedded(users, null, NodeConfig.defaults(), "application"));
    assertThat(node.adminPort()).isPositive();
    get(users.close());
    threads.assertNone();
  }

  @Test
  void anEmbeddedNodeThatCannotBeMadeLeavesNothing() {
    LeftoverThreads threads = LeftoverThreads.snapshot();
    Vertx users = Vertx.vertx();
    get(users.close());
    assertThatThrownBy(() -> get(Node.embedded(users, null, NodeConfig.defaults(), "application"))).isNotNull();
    threads.assertNone();
  }

  @Test
  void anEmbeddedNodeHasTheAddressOfTheUsersClusterMember() {
    Config own = ConfigUtil.loadConfig().setClusterName("test-" + UUID.randomUUID())
        .setProperty("hazelcast.socket.bind.any", "false");
    own.getNetworkConfig().setPort(0).setPublicAddress("127.0.0.2").getInterfaces().clear().setEnabled(true)
        .addInterface("127.0.0.1");
    own.getNetworkConfig().getJoin().getMulticastConfig().setEnabled(false);
    own.getNetworkConfig().getJoin().getAutoDetectionConfig().setEnabled(false);
    Vertx users = get(Vertx.builder().withClusterManager(new HazelcastClusterManager(own)).buildClustered());
    String host = Node.embedded(users, null, "application").host();
    get(users.close());
    assertThat(host).isEqualTo("127.0.0.2");
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
      get(node.directory().register(instance("rendezvous", "r", 0, 1)));
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
}
