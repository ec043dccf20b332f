package io.regatta.node.cluster;

import static io.regatta.node.testing.Nodes.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.hazelcast.config.Config;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.Node;
import io.regatta.node.NodeConfig;
import io.regatta.node.directory.Directory;
import io.regatta.node.testing.FreePorts;
import io.regatta.node.testing.LeftoverThreads;
import io.regatta.node.testing.Nodes;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.SelfSignedCertificate;
import io.vertx.spi.cluster.hazelcast.ConfigUtil;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A cluster of somebody else, with stock settings: a node joins it, or ends at once with the reason. */
class ForeignClusterTest {

  private final LeftoverThreads threads = LeftoverThreads.snapshot();
  private final String cluster = "theirs-" + UUID.randomUUID();
  private final int port = FreePorts.one();
  private HazelcastInstance theirs;

  @AfterEach
  void stop() {
    if (theirs != null) {
      theirs.shutdown();
    }
    threads.assertNone();
  }

  /**
   * Starts a member as a stock HazelcastClusterManager does, but for the name and the address: discovery by multicast.
   */
  private void start(String partitions) {
    Config config = ConfigUtil.loadConfig();
    config.setClusterName(cluster);
    config.getNetworkConfig().setPort(port).setPortAutoIncrement(false);
    config.getNetworkConfig().getInterfaces().setEnabled(true).addInterface("127.0.0.1");
    config.setProperty("hazelcast.logging.type", "slf4j");
    config.setProperty("hazelcast.phone.home.enabled", "false");
    config.setProperty("hazelcast.shutdownhook.enabled", "false");
    if (partitions != null) {
      config.setProperty("hazelcast.partition.count", partitions);
    }
    theirs = Hazelcast.newHazelcastInstance(config);
  }

  private NodeConfig joining(String name) {
    return NodeConfig.defaults().withCluster(ClusterConfig.of(name, List.of("127.0.0.1:" + port), 0));
  }

  @ParameterizedTest
  @NullSource
  @ValueSource(strings = "31")
  void joinsByNameAndAddressAlone_whateverTheNumberOfPartitions(String partitions) {
    start(partitions);
    Node node = get(Node.start(joining(cluster), "trainer"));
    get(node.directory().register(Nodes.instance(Directory.TRAINER, "t", 0, 1)));
    assertThat(theirs.getCluster().getMembers()).hasSize(2);
    assertThat(theirs.getMap("regatta.directory").size()).isEqualTo(1);
    get(node.close());
  }

  /** The timeout of a start is 120 s: the error must come without any of its repetitions. */
  @Test
  void endsWithTheRemedy_whenTheClusterHasAnotherName() {
    start(null);
    assertThatThrownBy(() -> get(Node.start(joining("ours"), "trainer"))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("trainer cannot join cluster ours through 127.0.0.1:" + port)
        .hasMessageContaining("another name").hasMessageContaining("node.cluster.name");
  }

  @Test
  void endsWithTheRemedy_whenThePortSpeaksTls() {
    Vertx vertx = Vertx.vertx();
    SelfSignedCertificate certificate = SelfSignedCertificate.create();
    HttpServer server = get(vertx.createHttpServer(new HttpServerOptions().setSsl(true)
        .setKeyCertOptions(certificate.keyCertOptions())).requestHandler(request -> { }).listen(port, "127.0.0.1"));
    try {
      assertThatThrownBy(() -> get(Node.start(joining("ours"), "trainer"))).isInstanceOf(InvalidInput.class)
          .hasMessageContaining("127.0.0.1:" + server.actualPort() + ": the port speaks TLS");
    } finally {
      get(vertx.close());
      certificate.delete();
    }
  }

  @Test
  void endsWithTheRemedy_whenThePortIsNotHazelcasts() throws IOException {
    try (ServerSocket other = new ServerSocket(port, 50, InetAddress.getByName("127.0.0.1"))) {
      Thread answering = new Thread(() -> answer(other), "other-service");
      answering.setDaemon(true);
      answering.start();
      assertThatThrownBy(() -> get(Node.start(joining("ours"), "trainer"))).isInstanceOf(InvalidInput.class)
          .hasMessageContaining("127.0.0.1:" + port + ": what listens there is not a Hazelcast member");
    }
  }

  private static void answer(ServerSocket server) {
    while (true) {
      try (var socket = server.accept()) {
        socket.getInputStream().read();
        socket.getOutputStream().write("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes());
      } catch (IOException closed) {
        if (server.isClosed()) {
          return;
        }
      }
    }
  }
}
