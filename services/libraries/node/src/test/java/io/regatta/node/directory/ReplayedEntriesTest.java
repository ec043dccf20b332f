package io.regatta.node.directory;

import static io.regatta.node.testing.Conditions.awaitTrue;
import static io.regatta.node.testing.Nodes.get;
import static io.regatta.node.testing.Nodes.instance;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.hazelcast.config.Config;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.map.IMap;
import io.regatta.node.Node;
import io.regatta.node.NodeConfig;
import io.regatta.node.cluster.ClusterConfig;
import io.regatta.node.directory.Directory.Instance;
import io.regatta.node.member.VertxMember;
import io.regatta.node.testing.FreePorts;
import io.regatta.protocol.testing.SecretFiles;
import io.vertx.core.Future;
import java.io.IOException;
import java.net.ConnectException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/**
 * Sealed entries that a member without the token has recorded and writes again, in the cluster of an application whose
 * members prove nothing to each other.
 */
@Timeout(60)
class ReplayedEntriesTest {

  private static final String TOKEN = "a-token-of-this-test-alone";
  private static final int LEASE_SECONDS = 2;
  private static final int FORGED_ENTRIES = 600;
  private static final Function<Instance, Future<Boolean>> NOBODY =
      holder -> Future.failedFuture(new ConnectException("refused"));

  @TempDir
  Path dir;
  private final String cluster = "test-" + UUID.randomUUID();
  private final int port = FreePorts.one();
  private final List<Node> nodes = new ArrayList<>();
  private final Logger logger = (Logger) LoggerFactory.getLogger(HazelcastDirectory.class);
  private final ListAppender<ILoggingEvent> log = new ListAppender<>();
  private HazelcastInstance stranger;
  private IMap<String, String> map;

  @BeforeEach
  void startTheApplication() {
    Config config = new Config().setClusterName(cluster);
    config.getNetworkConfig().setPort(port).setPortAutoIncrement(false).getInterfaces().setEnabled(true)
        .addInterface("127.0.0.1");
    config.getNetworkConfig().getJoin().getMulticastConfig().setEnabled(false);
    config.getNetworkConfig().getJoin().getAutoDetectionConfig().setEnabled(false);
    config.setProperty("hazelcast.logging.type", "slf4j");
    config.setProperty("hazelcast.phone.home.enabled", "false");
    config.setProperty("hazelcast.shutdownhook.enabled", "false");
    stranger = Hazelcast.newHazelcastInstance(config);
    map = stranger.getMap(HazelcastDirectory.MAP);
    log.start();
    logger.addAppender(log);
  }

  @AfterEach
  void close() {
    logger.detachAppender(log);
    nodes.forEach(node -> get(node.close()));
    stranger.getLifecycleService().terminate();
  }

  private Node start(String name, int seed, int at) throws IOException {
    ClusterConfig c = ClusterConfig.of(name, List.of("127.0.0.1:" + seed), at);
    Node node = get(Node.start(NodeConfig.defaults().withCluster(c.with(b -> b.memberProof(false).leaseSeconds(LEASE_SECONDS)))
        .withTokenFile(SecretFiles.write(dir.resolve("token-" + UUID.randomUUID()), TOKEN).toString()),
        "parameter-server"));
    nodes.add(node);
    return node;
  }

  private void end(Node node) {
    nodes.remove(node);
    get(node.close());
  }

  /** The values that a member cannot read: a number, and an object of a class that it does not create. */
  @Test
  void aPlaceIsTakenAndKept_whenAStrangerHasPutWhatIsNoTextThere() throws Exception {
    IMap<String, Object> any = stranger.getMap(HazelcastDirectory.MAP);
    any.put("parameter-server/0", 1);
    any.put("parameter-server/1", new Thread.State[] {Thread.State.NEW});
    Node node = start(cluster, port, 0);
    get(node.directory().registerSole(instance("parameter-server", "number", 0, 1001), NOBODY, ""));
    get(node.directory().registerSole(instance("parameter-server", "object", 1, 1002), NOBODY, ""));
    assertThat(get(node.directory().list("parameter-server"))).extracting(Instance::id)
        .containsExactlyInAnyOrder("number", "object");
    any.put("parameter-server/0", 2);
    any.put("parameter-server/1", new Thread.State[0]);
    awaitTrue(() -> get(node.directory().list("parameter-server")).size() == 2);
  }

  @Test
  void leavesOutAndReportsEntries_whenTheirProcessHasEndedOrIsInAnotherCluster() throws Exception {
    Node former = start(cluster, port, 0);
    get(former.directory().register(instance("parameter-server", "former", 0, 1001)));
    String recorded = map.get("parameter-server/former");
    Node reader = start(cluster, port, 0);
    assertThat(get(reader.directory().list("parameter-server"))).extracting(Instance::id).containsExactly("former");
    end(former);
    int elsewhere = FreePorts.one();
    Node other = start("other-" + cluster, elsewhere, elsewhere);
    get(other.directory().register(instance("parameter-server", "other", 1, 1002)));
    String foreign = VertxMember.under(other.vertx()).orElseThrow().<String, String>getMap(HazelcastDirectory.MAP)
        .get("parameter-server/other");
    get(reader.directory().register(instance("parameter-server", "true", 2, 1003)));
    String own = map.get("parameter-server/true");

    map.put("parameter-server/former", recorded);
    map.put("parameter-server/other", foreign);
    map.put("trainer/true", own);
    map.put("parameter-server/moved", own);
    assertThat(get(reader.directory().list("parameter-server"))).extracting(Instance::id).containsExactly("true");
    assertThat(get(reader.directory().list("trainer"))).as("of another role").isEmpty();
    awaitTrue(() -> {
      get(reader.directory().list("parameter-server"));
      return lines().stream().anyMatch(line -> line.matches("entry parameter-server/(former|other) of the directory "
          + "is left out: its process has left the Hazelcast cluster.*has not ended with its lease.*"));
    });
    assertThat(lines()).anyMatch(line -> line.matches("entry (trainer/true|parameter-server/moved) of the directory is "
        + "left out: it is not sealed.*"));
  }

  @Test
  void aHolderTakesItsPlaceBack_whenAnEntryOfNobodyIsPutThere() throws Exception {
    Node former = start(cluster, port, 0);
    String place = "parameter-server/0";
    get(former.directory().registerSole(instance("parameter-server", "former", 0, 1001), NOBODY, "end one"));
    String recorded = map.get(place);
    end(former);
    Node node = start(cluster, port, 0);
    Registration holder = get(node.directory().registerSole(instance("parameter-server", "holder", 0, 1002), NOBODY,
        "end one"));
    for (String replayed : List.of("no entry", recorded)) {
      map.put(place, replayed);
      awaitTrue(() -> map.get(place) != null && map.get(place).contains("holder"));
      assertThat(holder.lost().isComplete()).isFalse();
    }
    assertThat(get(node.directory().list("parameter-server"))).extracting(Instance::id).containsExactly("holder");
  }

  @Test
  void listsTheTrueEntryAndLogsLittle_whenAMemberForgesThousands() throws Exception {
    Node reader = start(cluster, port, 0);
    get(reader.directory().register(instance("parameter-server", "true", 0, 1001)));
    String own = map.get("parameter-server/true");
    List<String> forged = List.of(own.replace("1001", "1002"), own + own, "{\"service\":".repeat(5000),
        "[".repeat(10_000), "\u0000\n".repeat(1000), "");
    Map<String, String> flood = new HashMap<>();
    for (int i = 0; i < FORGED_ENTRIES; i++) {
      flood.put("parameter-server/" + "forged\n".repeat(i % 100) + i, forged.get(i % forged.size()));
    }
    map.putAll(flood);
    for (int i = 0; i < 3; i++) {
      assertThat(get(reader.directory().list("parameter-server"))).extracting(Instance::id).containsExactly("true");
    }
    assertThat(lines()).hasSizeBetween(1, 10).allSatisfy(line -> assertThat(line).hasSizeLessThan(1000)
        .doesNotContain("\n"));
  }

  private List<String> lines() {
    return List.copyOf(log.list).stream().map(ILoggingEvent::getFormattedMessage).toList();
  }
}
