package io.regatta.node;

import static io.regatta.node.testing.Nodes.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.admin.HealthProbe;
import io.regatta.node.cluster.ClusterConfig;
import io.regatta.node.settings.EffectiveConfig;
import io.regatta.node.settings.Schema;
import io.regatta.node.settings.Settings;
import io.regatta.node.settings.Settings.Sources;
import io.regatta.protocol.connection.ConnectionLimits;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.security.TlsFiles;
import io.regatta.protocol.security.Token;
import io.regatta.protocol.security.Tokens;
import io.regatta.protocol.testing.Certificates;
import io.regatta.protocol.testing.Certificates.Pem;
import io.regatta.protocol.testing.SecretFiles;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** TLS and token of a node: how they are configured, who may look at its admin port, and what is said where they are missing. */
class NodeSecurityTest {
  private static final String SECRET = "this-token-is-to-be-seen-nowhere";

  @TempDir
  Path dir;
  private final Vertx vertx = Vertx.vertx();

  @AfterEach
  void close() {
    get(vertx.close());
  }

  private EffectiveConfig load(Map<String, String> environment, Map<String, String> properties, List<String> overrides) {
    return get(Settings.load(vertx, Schema.sections(Map.of(Sections.NODE, NodeConfig.class)),
        Sources.NONE.with(s -> s.environment(environment).properties(properties).overrides(overrides))));
  }

  private static NodeConfig bind(EffectiveConfig effective) {
    return (NodeConfig) effective.bindSections().get(Sections.NODE);
  }

  @Test
  void a_token_comes_from_the_environment_or_a_file_and_is_not_shown() throws Exception {
    EffectiveConfig given = load(Map.of("REGATTA_NODE_TOKEN", SECRET), Map.of(), List.of());
    assertThat(bind(given).peerSecurity().token()).isEqualTo(Token.of(SECRET, "a test"));
    assertThat(given.lines().toString()).contains("node.token = ***  (environment variable REGATTA_NODE_TOKEN)")
        .doesNotContain(SECRET);
    assertThat(bind(given).toString()).doesNotContain(SECRET);
    assertThatThrownBy(() -> Settings.bind(new JsonObject().put("token", "***"), NodeConfig.class)).as("a mask is no secret")
        .isInstanceOf(InvalidInput.class)
        .hasMessageContaining("key 'token' is ***");
    Path file = SecretFiles.write(dir.resolve("token"), SECRET + "\n");
    assertThat(bind(load(Map.of(), Map.of(), List.of("node.token_file=" + file))).peerSecurity().token())
        .isEqualTo(Token.of(SECRET, "a test"));
    Path made = SecretFiles.write(dir.resolve("made"), "the-token-that-a-launcher-made");
    List<String> launched = List.of("node.security.launch_token_file=" + made);
    assertThat(bind(load(Map.of(), Map.of(), launched)).peerSecurity().token())
        .isEqualTo(Token.of("the-token-that-a-launcher-made", "a"));
    assertThat(bind(load(Map.of("REGATTA_NODE_TOKEN", SECRET), Map.of(), launched)).peerSecurity().token())
        .as("the user's goes first").isEqualTo(Token.of(SECRET, "a test"));
    assertThat(bind(load(Map.of("REGATTA_NODE_TOKEN_FILE", file.toString()), Map.of(), launched)).peerSecurity()
        .token())
        .isEqualTo(Token.of(SECRET, "a test"));
    assertThat(NodeConfig.defaults().peerSecurity()).isSameAs(PeerSecurity.NONE);
  }

  @Test
  void a_token_on_a_command_line_is_refused() {
    assertThatThrownBy(() -> bind(load(Map.of(), Map.of(), List.of("node.token=" + SECRET)))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("key 'node.token' (--set node.token)").hasMessageContaining("REGATTA_NODE_TOKEN")
        .hasMessageNotContaining(SECRET);
    assertThatThrownBy(() -> bind(load(Map.of(), Map.of("regatta.node.token", SECRET), List.of())))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("command line").hasMessageNotContaining(SECRET);
  }

  @Test
  void what_does_not_go_together_is_refused_in_one_line() {
    refused("'node.tls'", "node.tls.certificate=a.crt");
    refused("ca is not", "node.tls.certificate=a.crt", "node.tls.key=a.key");
    refused("poll_ms", "node.tls.poll_ms=-1");
    assertThatThrownBy(() -> bind(load(Map.of("REGATTA_NODE_TOKEN", "a"), Map.of(), List.of("node.token_file=f"))))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("token and token_file are given");
    NodeConfig missing = bind(load(Map.of(), Map.of(), List.of("node.token_file=" + dir.resolve("none"))));
    assertThatThrownBy(missing::peerSecurity).hasMessageContaining("node.token_file")
        .hasMessageContaining("no such file");
    assertThatThrownBy(() -> get(Node.start(missing, "server"))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("node.token_file");
  }

  private void refused(String words, String... overrides) {
    assertThatThrownBy(() -> bind(load(Map.of(), Map.of(), List.of(overrides)))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining(words).message().doesNotContain("\n");
  }

  @Test
  void the_admin_port_shows_health_to_everybody_and_the_rest_to_those_with_certificate_and_token() throws Exception {
    Pem pem = new Certificates(dir).issue("ca", "node");
    Path token = SecretFiles.write(dir.resolve("token"), SECRET);
    NodeConfig config = NodeConfig.defaults().withTls(new TlsConfig(pem.certificate().toString(), pem.key().toString(),
        pem.ca().toString(), true, true, 0)).withTokenFile(token.toString());
    Node node = get(Node.embedded(vertx, null, config, "server"));
    PeerSecurity probe = PeerSecurity.of(new TlsFiles(null, null, pem.ca(), true, true), Token.NONE);
    PeerSecurity peer = PeerSecurity.of(pem.files(), Token.NONE);
    String shown = "Bearer " + SECRET;
    assertThat(status(node, probe, "/ready", null)).as("nothing is hosted yet, which a probe may know").isEqualTo(503);
    assertThat(status(node, probe, "/health", null)).isEqualTo(200);
    assertThat(body(node, probe, "/ready", null)).as("no name, no cause").isEqualTo(new JsonObject()
        .put("status", "DOWN"));
    assertThat(body(node, probe, "/ready", shown)).as("no certificate").isEqualTo(new JsonObject()
        .put("status", "DOWN"));
    assertThat(body(node, peer, "/health", "Bearer of-another-job-entirely")).isEqualTo(new JsonObject()
        .put("status", "UP"));
    assertThat(body(node, peer, "/ready", shown).getString("role")).isEqualTo("server");
    assertThat(body(node, peer, "/ready", shown).getJsonArray("checks")).hasSize(1);
    assertThat(status(node, probe, "/metrics", null)).isEqualTo(401);
    assertThat(status(node, probe, "/metrics", shown)).isEqualTo(403);
    assertThat(status(node, peer, "/metrics", null)).isEqualTo(401);
    assertThat(status(node, peer, "/why", shown)).isEqualTo(200);
    assertThatThrownBy(() -> status(node, PeerSecurity.NONE, "/health", null)).isNotNull();
    int port = node.adminPort();
    assertThat(HealthProbe.isUp(port)).as("the image's health check").isTrue();
    get(node.close());
    assertThatThrownBy(() -> HealthProbe.isUp(port)).isInstanceOf(IOException.class);
  }

  private int status(Node node, PeerSecurity client, String path, String authorization) {
    return answer(node, client, path, authorization).statusCode();
  }

  private JsonObject body(Node node, PeerSecurity client, String path, String authorization) {
    return new JsonObject(get(answer(node, client, path, authorization).body()));
  }

  private HttpClientResponse answer(Node node, PeerSecurity client, String path, String authorization) {
    HttpClient http = vertx.createHttpClient(client.client(new HttpClientOptions()));
    Future<HttpClientResponse> answer = http.request(HttpMethod.GET, node.adminPort(), "127.0.0.1", path).compose(r -> {
      if (authorization != null) {
        r.putHeader(Token.HEADER, authorization);
      }
      return r.send().compose(response -> response.body().map(response));
    });
    return get(answer.eventually(http::close));
  }

  /** A client's certificate is enough to call others; a port cannot be opened with it. */
  @Test
  void a_port_needs_a_certificate() {
    Pem pem = new Certificates(dir).issue("ca", "node");
    NodeConfig config = NodeConfig.defaults().withTls(new TlsConfig("", "", pem.ca().toString(), true, true, 0));
    assertThatThrownBy(() -> get(Node.embedded(vertx, null, config, "server"))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("node.tls.certificate and node.tls.key are missing");
  }

  /** The process looks by itself; requests come until it has. */
  @Test
  void a_token_file_that_changes_is_read_again() throws Exception {
    Path file = SecretFiles.write(dir.resolve("token"), SECRET);
    Node node = get(Node.start(fixed(List.of("node.token_file=" + file, "node.security.token_poll_ms=5")), "server"));
    String later = "this-token-comes-later";
    assertThat(status(node, PeerSecurity.NONE, "/why", "Bearer " + later)).isEqualTo(401);
    assertThat(status(node, PeerSecurity.NONE, "/why", "Bearer " + SECRET)).isEqualTo(200);
    Path next = SecretFiles.write(dir.resolve("next"), "later " + later + "\nbefore " + SECRET + "\n");
    Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
    Assertions.assertTimeoutPreemptively(Duration.ofSeconds(60), () -> {
      while (status(node, PeerSecurity.NONE, "/why", "Bearer " + later) != 200) {
        Thread.onSpinWait();
      }
    });
    assertThat(status(node, PeerSecurity.NONE, "/why", "Bearer " + SECRET)).isEqualTo(200);
    assertThat(node.security().token()).isEqualTo(Token.of(later, "a test"));
    get(node.close());
  }

  private NodeConfig fixed(List<String> overrides) {
    return bind(load(Map.of(), Map.of(), overrides)).withCluster(ClusterConfig.fixed(Map.of("rendezvous",
        "127.0.0.1:1")));
  }

  @Test
  void a_port_beyond_loopback_needs_a_token_or_mutual_tls_or_permission() throws Exception {
    for (List<String> beyond : List.of(List.of("node.bind=0.0.0.0", "node.host=127.0.0.1"),
        List.of("node.host=10.0.0.7"),
        List.of("node.admin.host=0.0.0.0"), List.of("node.host=127.example.com"))) {
      NodeConfig config = fixed(beyond);
      for (Future<Node> start : List.of(Node.start(config, "server"), Node.embedded(vertx, null, config, "server"))) {
        assertThatThrownBy(() -> get(start)).as("%s", beyond).isInstanceOf(InvalidInput.class).hasMessageContainingAll(
            "server would listen on", beyond.get(0).substring(beyond.get(0).indexOf('=') + 1),
            "(umask 077 && openssl rand -hex 32 > token)", "--set node.token_file=token", "REGATTA_NODE_TOKEN_FILE",
            "node.security.open: true").message().doesNotContain("\n");
      }
    }
    Path token = SecretFiles.write(dir.resolve("token"), SECRET);
    Pem pem = new Certificates(dir).issue("ca", "node");
    List<String> tls = List.of("node.tls.certificate=" + pem.certificate(), "node.tls.key=" + pem.key(), "node.tls.ca="
        + pem.ca());
    for (List<String> enough : List.of(List.of("node.token_file=" + token), List.of("node.security.open=true"), tls)) {
      List<String> all = new ArrayList<>(List.of("node.bind=0.0.0.0", "node.host=127.0.0.1"));
      all.addAll(enough);
      get(get(Node.start(fixed(all), "server")).close());
    }
    List<String> oneSided = new ArrayList<>(List.of("node.admin.host=0.0.0.0", "node.tls.mutual=false"));
    oneSided.addAll(tls);
    assertThatThrownBy(() -> get(Node.start(fixed(oneSided), "server")))
        .as("TLS alone lets everybody in").isInstanceOf(InvalidInput.class);
    NodeConfig loopback = fixed(List.of("node.host=127.0.0.2", "node.admin.host=localhost"));
    get(get(Node.start(loopback, "server")).close());
    NodeConfig client = fixed(List.of("node.bind=0.0.0.0", "node.host=127.0.0.1", "node.admin.enabled=false"));
    get(get(Node.start(client, "client")).close());
    Node node = get(Node.embedded(vertx, null, loopback, "server"));
    assertThatThrownBy(() -> node.refuseOpenPort("10.0.0.7")).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("would listen on 10.0.0.7");
    get(node.close());
  }

  /** Hazelcast's member may listen elsewhere than the services, and a client has one as well. */
  @Test
  void a_hazelcast_port_beyond_loopback_needs_a_token_or_mutual_tls_or_permission() throws Exception {
    NodeConfig loopback = bind(load(Map.of(), Map.of(), List.of("node.host=127.0.0.1", "node.admin.host=127.0.0.1",
        "node.cluster.seeds=127.0.0.1:1")));
    for (String role : List.of("server", "trainer", "client")) {
      assertThatThrownBy(() -> Node.refuseOpenPorts(loopback, role, "10.0.0.7")).isInstanceOf(InvalidInput.class)
          .hasMessageContaining(role + " would listen on 10.0.0.7 (Hazelcast port), which");
      Node.refuseOpenPorts(loopback, role, "127.0.0.1");
      Node.refuseOpenPorts(loopback.withTokenFile(SecretFiles.write(dir.resolve(role), SECRET).toString()), role,
          "10.0.0.7");
    }
    assertThatThrownBy(() -> Node.refuseOpenPorts(bind(load(Map.of(), Map.of(), List.of())), "server", "10.0.0.7"))
        .hasMessageContaining("server would listen on 10.0.0.7, which");
    String address = beyondLoopback();
    NodeConfig apart = bind(load(Map.of(), Map.of(), List.of("node.host=127.0.0.1", "node.admin.enabled=false",
        "node.cluster.address=" + address)));
    for (String role : List.of("server", "client")) {
      assertThatThrownBy(() -> get(Node.start(apart, role))).isInstanceOf(InvalidInput.class)
          .hasMessageContaining(role + " would listen on " + address + " (Hazelcast port), which");
    }
  }

  private static String beyondLoopback() throws IOException {
    String address = NetworkInterface.networkInterfaces().flatMap(NetworkInterface::inetAddresses)
        .filter(Inet4Address.class::isInstance).filter(at -> !at.isLoopbackAddress()).map(InetAddress::getHostAddress)
        .findFirst().orElse(null);
    Assumptions.assumeTrue(address != null, "this machine has no address but loopback");
    return address;
  }

  @Test
  void one_line_warns_of_a_port_that_others_reach_without_tls_or_token() {
    Logger logger = (Logger) LoggerFactory.getLogger(NodeSecurity.class);
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    lines.start();
    logger.addAppender(lines);
    try {
      NodeSecurity open = new NodeSecurity(PeerSecurity.NONE, vertx, 0, 0, "server");
      open.sayWhoMayCall("server", new ListenAddresses("127.0.0.1", "127.0.0.1", "::1"));
      open.sayWhoMayCall("server", new ListenAddresses("localhost", "", ""));
      assertThat(lines.list).isEmpty();
      open.sayWhoMayCall("server", new ListenAddresses("10.0.0.7", "10.0.0.7", "10.0.0.7"));
      assertThat(lines.list).singleElement().asString().contains("WARN", "server listens on 10.0.0.7", "without TLS and without a token",
          "node.tls, node.token");
      lines.list.clear();
      open.sayWhoMayCall("server", new ListenAddresses("10.0.0.7", "::", "10.0.0.8"));
      assertThat(lines.list).singleElement().asString()
          .contains("server listens on 10.0.0.7 and :: (admin port) and 10.0.0.8 (Hazelcast port), which");
      lines.list.clear();
      NodeConfig adminOpen = bind(load(Map.of(), Map.of(), List.of("node.admin.host=0.0.0.0",
          "node.security.open=true")));
      for (String role : List.of("server", "client")) {
        Node node = get(Node.embedded(vertx, null, adminOpen, role));
        assertThat(lines.list).singleElement().asString().contains("WARN", role
            + " listens on 0.0.0.0 (admin port), which others can reach, without TLS and without a token: they "
            + "can read its metrics");
        lines.list.clear();
        get(node.close());
      }
      new NodeSecurity(PeerSecurity.of(null, Token.of(SECRET, "a test")), vertx, 0, 0, "server")
          .sayWhoMayCall("server", new ListenAddresses("10.0.0.7", "", ""));
      assertThat(lines.list).filteredOn(line -> line.getLevel().toString().equals("WARN")).singleElement().asString()
          .contains("without TLS:");
      assertThat(lines.list.toString()).doesNotContain(SECRET);
    } finally {
      logger.detachAppender(lines);
    }
  }

  /** The file lies on a file system that hangs. */
  @Test
  void looksAtAFileOnceAtATime_andDoesNotWarnOfALookThatEndsAfterItsClose() throws Exception {
    CountDownLatch hanging = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    AtomicInteger looks = new AtomicInteger();
    Tokens tokens = Tokens.of(Token.of(SECRET, "a test"));
    PeerSecurity security = PeerSecurity.of(null, tokens, () -> {
      looks.incrementAndGet();
      hanging.countDown();
      awaitQuietly(goOn);
      throw new IllegalStateException("the file system is gone");
    }, ConnectionLimits.DEFAULTS);
    Logger logger = (Logger) LoggerFactory.getLogger(NodeSecurity.class);
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    logger.addAppender(log);
    WorkerExecutor same = vertx.createSharedWorkerExecutor("regatta-security", 1);
    NodeSecurity looking = new NodeSecurity(security, vertx, 0, 1, "server");
    hanging.await();
    get(vertx.timer(100, TimeUnit.MILLISECONDS));
    looking.close();
    goOn.countDown();
    get(same.executeBlocking(() -> null)); // after the looks that wait for the thread
    get(vertx.timer(20, TimeUnit.MILLISECONDS));
    logger.detachAppender(log);
    assertThat(looks).hasValue(1);
    assertThat(log.list).isEmpty();
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
