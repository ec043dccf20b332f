package io.regatta.node.cluster;

import static io.regatta.node.testing.Conditions.awaitTrue;
import static io.regatta.node.testing.Nodes.awaitChecks;
import static io.regatta.node.testing.Nodes.checks;
import static io.regatta.node.testing.Nodes.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.node.Node;
import io.regatta.node.NodeConfig;
import io.regatta.node.admin.AdminConfig;
import io.regatta.node.testing.FreePorts;
import io.regatta.node.testing.LeftoverThreads;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.UUID;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** A process tells its state while it waits for the seed of its cluster. */
class JoinWaitTest {

  private static final HttpClient HTTP = HttpClient.newHttpClient();

  private final LeftoverThreads threads = LeftoverThreads.snapshot();
  private final String cluster = "test-" + UUID.randomUUID();
  private final int seed = FreePorts.one();
  private final int admin = FreePorts.one();

  private NodeConfig waiting() {
    return NodeConfig.defaults().with(c -> c.cluster(ClusterConfig.of(cluster, List.of("127.0.0.1:" + seed), 0))
        .admin(new AdminConfig(true, admin, "", 2000)).readyTimeoutSeconds(60).longWaitSeconds(1));
  }

  @Test
  void theAdminServerNamesTheSeedBeforeTheClusterIsThere() throws Exception {
    Node.Starting starting = Node.begin(waiting(), "trainer");
    String sentence = "trainer waits at cluster " + cluster + " for seed 127.0.0.1:" + seed + ", join, since ";
    awaitAnswer("/why", answer -> answer.body().startsWith(sentence));
    assertThat(fetch("/health").statusCode()).as("it lives").isEqualTo(200);
    assertThat(fetch("/ready").statusCode()).isEqualTo(503);
    assertThat(fetch("/ready").body()).contains("cluster " + cluster, "is being joined");
    assertThat(fetch("/metrics").body()).contains("jvm_memory_used_bytes");
    assertThat(starting.future().isComplete()).isFalse();

    Node rendezvous = get(Node.start(NodeConfig.defaults().withCluster(
        ClusterConfig.of(cluster, List.of("127.0.0.1:" + seed), seed)), "rendezvous"));
    Node node = get(starting.future());
    assertThat(node.adminPort()).isEqualTo(admin);
    awaitAnswer("/why", answer -> answer.body().equals("trainer: nothing waits\n"));
    assertThat(checks(node, "/ready", 503)).containsExactly("services: DOWN, none has been started");
    node.starting("trainer").serves();
    assertThat(checks(node, "/ready", 200)).containsExactly("trainer: UP");
    awaitChecks(node, "/health", 200, "directory: UP");
    get(node.close());
    get(rendezvous.close());
    threads.assertNone();
    assertThat(taken(admin)).isFalse();
  }

  @Test
  void whoGivesUpJoiningLeavesNeitherThreadNorPort() throws Exception {
    Node.Starting starting = Node.begin(waiting(), "trainer");
    awaitAnswer("/why", answer -> answer.body().contains("seed 127.0.0.1:" + seed));
    get(starting.close());
    assertThatThrownBy(() -> get(starting.future())).as("not the time limit, which loses the seed")
        .isInstanceOf(Cancelled.class);
    threads.assertNone();
    assertThat(taken(admin)).isFalse();
  }

  @Test
  void aTrainerThatIsItsOwnSeedNamesWhatIsMissing() {
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    Logger logger = (Logger) LoggerFactory.getLogger(ClusteredVertx.class);
    logger.addAppender(log);
    try {
      assertThatThrownBy(() -> get(Node.start(NodeConfig.defaults().with(c -> c
          .cluster(ClusterConfig.of(cluster, List.of(), seed)).admin(new AdminConfig(true, admin, "", 2000))
          .readyTimeoutSeconds(1).longWaitSeconds(1)), "trainer"))).isInstanceOf(PeerLost.class)
          .hasMessageContaining("no data member");
    } finally {
      logger.detachAppender(log);
    }
    assertThat(log.list).extracting(ILoggingEvent::getFormattedMessage)
        .contains("not ready endpoints:['a service that holds data']");
    threads.assertNone();
  }

  @Test
  void anAdminPortInUseIsSaidBeforeAnybodyWaits() throws IOException {
    try (ServerSocket other = new ServerSocket(admin, 1, InetAddress.getByName("127.0.0.1"))) {
      assertThat(other.isBound()).isTrue();
      assertThatThrownBy(() -> get(Node.start(waiting(), "trainer"))).isInstanceOf(InvalidInput.class)
          .hasMessageContaining("admin port " + admin).hasMessageContaining("node.admin.port");
    }
    threads.assertNone();
  }

  private static boolean taken(int port) {
    try (Socket socket = new Socket("127.0.0.1", port)) {
      return socket.isConnected();
    } catch (IOException refused) {
      return false;
    }
  }

  private HttpResponse<String> fetch(String path) throws Exception {
    return HTTP.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + admin + path))
        .header("Accept", "text/plain").build(), HttpResponse.BodyHandlers.ofString());
  }

  /** Waits for an answer: the port opens a moment after the start. */
  private void awaitAnswer(String path, Predicate<HttpResponse<String>> wanted) throws Exception {
    awaitTrue(() -> {
      try {
        return wanted.test(fetch(path));
      } catch (ConnectException notYet) {
        return false;
      }
    }, () -> path + " does not give the answer");
  }
}
