package io.regatta.node.cluster;

import static io.regatta.node.testing.Nodes.awaitChecks;
import static io.regatta.node.testing.Nodes.awaitStatus;
import static io.regatta.node.testing.Nodes.checks;
import static io.regatta.node.testing.Nodes.get;
import static io.regatta.node.testing.Nodes.instance;
import static io.regatta.node.testing.Nodes.poll;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.hazelcast.client.HazelcastClient;
import com.hazelcast.client.config.ClientConfig;
import com.hazelcast.cluster.Member;
import com.hazelcast.config.Config;
import com.hazelcast.config.QueueConfig;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.internal.serialization.impl.HeapData;
import com.hazelcast.jet.impl.execution.init.CustomClassLoadedObject;
import com.hazelcast.map.EntryProcessor;
import com.hazelcast.map.IMap;
import com.hazelcast.nio.ObjectDataInput;
import com.hazelcast.nio.ObjectDataOutput;
import com.hazelcast.nio.serialization.DataSerializable;
import com.hazelcast.nio.serialization.HazelcastSerializationException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.Node;
import io.regatta.node.NodeConfig;
import io.regatta.node.directory.Directory;
import io.regatta.node.directory.Directory.Instance;
import io.regatta.node.directory.HazelcastDirectory;
import io.regatta.node.member.VertxMember;
import io.regatta.node.testing.FreePorts;
import io.regatta.protocol.testing.SecretFiles;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The power of a stranger who reaches the Hazelcast port of a node, over loopback. */
class MemberDoorsTest {

  private static final String TOKEN = "a-token-of-this-test-alone";
  private static final String STRANGER = "a-stranger";

  @TempDir
  Path dir;
  private final String cluster = "test-" + UUID.randomUUID();
  private final int port = FreePorts.one();
  private final List<Node> nodes = new ArrayList<>();
  private HazelcastInstance stranger;

  /** Counts how often it has been deserialized. */
  private static final class Gadget implements Serializable {
    private static final long serialVersionUID = 1;
    private static final AtomicInteger READ = new AtomicInteger();

    private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {
      in.defaultReadObject();
      count(READ);
    }
  }

  /** Counts how often it has been made: Hazelcast's own serialization names its class. */
  static final class NamedGadget implements EntryProcessor<String, String, String>, DataSerializable {
    private static final AtomicInteger MADE = new AtomicInteger();

    NamedGadget() {
      count(MADE);
    }

    @Override
    public String process(Map.Entry<String, String> entry) {
      return "executed";
    }

    @Override
    public void writeData(ObjectDataOutput out) {}

    @Override
    public void readData(ObjectDataInput in) {}
  }

  /** Counts how often it has been made: compact serialization names its class in a schema. */
  static final class CompactGadget {
    private static final AtomicInteger MADE = new AtomicInteger();
    private final int number;

    CompactGadget() {
      count(MADE);
      number = 1;
    }

    int number() {
      return number;
    }
  }

  /** Counts what threads of others than the stranger do: its own member makes what it likes. */
  private static void count(AtomicInteger done) {
    if (!Thread.currentThread().getName().contains(STRANGER)) {
      done.incrementAndGet();
    }
  }

  @AfterEach
  void close() {
    if (stranger != null) {
      stranger.getLifecycleService().terminate();
    }
    nodes.forEach(node -> get(node.close()));
  }

  private NodeConfig config(int at, String token) throws IOException {
    NodeConfig open = NodeConfig.defaults().withCluster(ClusterConfig.of(cluster, List.of("127.0.0.1:" + port), at));
    return token.isEmpty() ? open : open.withTokenFile(SecretFiles.write(dir.resolve("token-" + UUID.randomUUID()),
        token).toString());
  }

  private Node start(int at, String token) throws IOException {
    Node node = get(Node.start(config(at, token), at == port ? "rendezvous" : "parameter-server"));
    nodes.add(node);
    return node;
  }

  /** A stock member that has all settings but the token. */
  private HazelcastInstance rogue() {
    Config config = new Config(STRANGER).setClusterName(cluster);
    config.getNetworkConfig().setPort(FreePorts.one()).getInterfaces().setEnabled(true).addInterface("127.0.0.1");
    config.getNetworkConfig().getJoin().getMulticastConfig().setEnabled(false);
    config.getNetworkConfig().getJoin().getAutoDetectionConfig().setEnabled(false);
    config.getNetworkConfig().getJoin().getTcpIpConfig().setEnabled(true).addMember("127.0.0.1:" + port);
    config.setProperty("hazelcast.logging.type", "slf4j");
    config.setProperty("hazelcast.phone.home.enabled", "false");
    config.setProperty("hazelcast.shutdownhook.enabled", "false");
    config.setProperty("hazelcast.max.join.seconds", "3");
    stranger = Hazelcast.newHazelcastInstance(config);
    return stranger;
  }

  @Test
  void theEventBusIsNotClustered() throws IOException {
    Node node = start(port, "");
    assertThat(node.vertx().isClustered()).isFalse();
    assertThat(VertxMember.under(node.vertx())).isPresent();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", TOKEN})
  void aClientIsRefused(String token) throws IOException {
    start(port, token);
    ClientConfig client = new ClientConfig().setClusterName(cluster);
    client.getNetworkConfig().addAddress("127.0.0.1:" + port);
    client.getConnectionStrategyConfig().getConnectionRetryConfig().setClusterConnectTimeoutMillis(500);
    client.setProperty("hazelcast.logging.type", "slf4j");
    assertThatThrownBy(() -> HazelcastClient.newHazelcastClient(client)).isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("Unable to connect");
  }

  @Test
  void nobodyBecomesAMemberWithoutTheToken() throws Exception {
    Node node = start(port, TOKEN);
    get(node.directory().register(instance("parameter-server", "ps", 0, 1)));
    assertThatThrownBy(this::rogue).isInstanceOf(IllegalStateException.class).hasMessageContaining("failed to start");
    assertThat(VertxMember.under(node.vertx()).orElseThrow().getCluster().getMembers()).hasSize(1);
    assertThatThrownBy(() -> start(0, "")).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("prove a token to each other, and this process has none")
        .hasMessageContaining("node.token_file");
    assertThatThrownBy(() -> start(0, "another-token-than-that-one")).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("has another token").hasMessageContaining("node.token_file");
    Node other = start(0, TOKEN);
    poll(other, "parameter-server", 1);
    awaitStatus(node, "/health", 200);
  }

  /** A recorded proof is of no use for another connection: the other side's number is new each time. */
  @Test
  void aCodeOfAnotherConnectionIsRefused() throws IOException {
    start(port, TOKEN);
    String id = io.regatta.protocol.security.Token.of(TOKEN, "here").id();
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress("127.0.0.1", port));
      socket.setSoTimeout(20_000);
      socket.getOutputStream().write(("RGP" + id + "0".repeat(32)).getBytes(StandardCharsets.US_ASCII));
      assertThat(socket.getInputStream().readNBytes(3 + 32 + 32)).startsWith(MemberProof.HELLO);
      socket.getOutputStream().write(new byte[32]);
      assertThat(isClosed(socket)).as("closed without a word of Hazelcast's").isTrue();
    }
  }

  private static boolean isClosed(Socket socket) throws IOException {
    try {
      return socket.getInputStream().read() < 0;
    } catch (SocketException e) {
      return true; // reset
    }
  }

  @Test
  void aMemberOfAnotherApplicationIsJoinedIfTheConfigurationSaysSo() throws IOException {
    Config theirs = new Config().setClusterName(cluster);
    theirs.getNetworkConfig().setPort(port).setPortAutoIncrement(false).getInterfaces().setEnabled(true)
        .addInterface("127.0.0.1");
    theirs.getNetworkConfig().getJoin().getMulticastConfig().setEnabled(false);
    theirs.getNetworkConfig().getJoin().getAutoDetectionConfig().setEnabled(false);
    theirs.setProperty("hazelcast.logging.type", "slf4j");
    theirs.setProperty("hazelcast.phone.home.enabled", "false");
    stranger = Hazelcast.newHazelcastInstance(theirs);
    assertThatThrownBy(() -> start(0, TOKEN)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("node.cluster.member_proof: false");
    NodeConfig config = config(0, TOKEN);
    ClusterConfig c = config.cluster();
    Node node = get(Node.start(config.withCluster(c.withMemberProof(false)), "parameter-server"));
    nodes.add(node);
    assertThat(stranger.getCluster().getMembers()).hasSize(2);

    get(node.directory().register(instance("parameter-server", "true", 0, 1001)));
    stranger.getMap(HazelcastDirectory.MAP).put("parameter-server/forged",
        "{\"service\":\"parameter-server\",\"id\":\"forged\","
        + "\"index\":1,\"host\":\"127.0.0.1\",\"control_port\":666,\"incarnation\":1,\"attributes\":{}}");
    Object sealed = stranger.getMap(HazelcastDirectory.MAP).get("parameter-server/true");
    stranger.getMap(HazelcastDirectory.MAP).put("parameter-server/moved", sealed);
    stranger.getMap(HazelcastDirectory.MAP).put("parameter-server/altered", sealed.toString().replace("1001", "1002"));
    assertThat(get(node.directory().list("parameter-server"))).as("forged, moved, altered").extracting(Instance::id)
        .containsExactly("true");
  }

  @Test
  void anObjectInTheDirectoryIsNotDeserializedAndHidesNobody() throws IOException {
    Node node = start(port, "");
    get(node.directory().register(instance("parameter-server", "ps", 0, 1)));
    assertThat(rogue().getCluster().getMembers()).as("without a token anybody on loopback may come").hasSize(2);
    stranger.getMap(HazelcastDirectory.MAP).put("parameter-server/gadget", new Gadget());
    stranger.getMap(HazelcastDirectory.MAP).put("parameter-server/number", 1);
    stranger.getMap(HazelcastDirectory.MAP).put("parameter-server/text", "no JSON");
    stranger.getMap(HazelcastDirectory.MAP).put("parameter-server/jet", asJetWritesIt(new Gadget()));
    stranger.getMap(HazelcastDirectory.MAP).put("parameter-server/named", new NamedGadget());
    stranger.getMap(HazelcastDirectory.MAP).put("parameter-server/compact", new CompactGadget());
    Gadget.READ.set(0);
    NamedGadget.MADE.set(0);
    CompactGadget.MADE.set(0);
    assertThat(get(node.directory().list("parameter-server"))).extracting(Instance::id).containsExactly("ps");
    assertThat(List.of(Gadget.READ, NamedGadget.MADE, CompactGadget.MADE)).extracting(AtomicInteger::get)
        .containsExactly(0, 0, 0);
  }

  /** A Java object as a serializer of Jet's reads it: partition hash, number of the serializer, Java's format. */
  private static Object asJetWritesIt(Serializable object) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    out.writeInt(0);
    out.writeInt(new CustomClassLoadedObject.Serializer().getTypeId());
    out.writeBoolean(true);
    try (ObjectOutputStream objects = new ObjectOutputStream(out)) {
      objects.writeObject(object);
    }
    return new HeapData(bytes.toByteArray());
  }

  /** It has the token, so it may end the cluster and the job; it cannot have another process make objects. */
  @Test
  void aMemberWithTheTokenCannotHaveAnotherOneMakeAnObject() throws Exception {
    Node node = start(port, TOKEN);
    HazelcastInstance own = VertxMember.under(node.vertx()).orElseThrow();
    HazelcastInstance member = VertxMember.under(start(0, TOKEN).vertx()).orElseThrow();
    IMap<String, Object> map = member.getMap(HazelcastDirectory.MAP);
    String key = keyOf(member, own.getCluster().getLocalMember().getUuid());
    map.set(key, "a text");
    NamedGadget gadget = new NamedGadget();
    NamedGadget.MADE.set(0);
    assertThatThrownBy(() -> member.<String, String>getMap(HazelcastDirectory.MAP).executeOnKey(key, gadget))
        .isInstanceOf(HazelcastSerializationException.class).hasMessageContaining(NamedGadget.class.getName());
    map.set(key, gadget);
    assertThatThrownBy(() -> own.getMap(HazelcastDirectory.MAP).get(key))
        .isInstanceOf(HazelcastSerializationException.class).hasMessageContaining(NamedGadget.class.getName());
    member.getConfig().addQueueConfig(new QueueConfig("ordered")
        .setPriorityComparatorClassName(NamedGadget.class.getName()));
    assertThat(List.of(own, member)).allMatch(any -> any.getQueue("ordered").offer("a text"));
    assertThat(NamedGadget.MADE).hasValue(0);
  }

  /** A key that a member holds, so that operations on it are sent there; the partitions may still be on their way. */
  private static String keyOf(HazelcastInstance from, UUID holder) {
    for (int i = 0;; i = (i + 1) % 10_000) {
      Member owner = from.getPartitionService().getPartition("parameter-server/" + i).getOwner();
      if (owner != null && owner.getUuid().equals(holder)) {
        return "parameter-server/" + i;
      }
    }
  }

  @Test
  void aNodeWhoseMemberHasStoppedIsNotReadyAndSaysSo() throws Exception {
    Node node = start(port, "");
    VertxMember.under(node.vertx()).orElseThrow().getLifecycleService().terminate();
    awaitChecks(node, "/ready", 503, "cluster " + cluster
        + ": DOWN, its Hazelcast member has stopped: start this process again");
    assertThat(checks(node, "/health", 503)).anyMatch(check -> check.startsWith("directory: DOWN"));
    assertThatThrownBy(() -> get(node.directory().list(Directory.RENDEZVOUS))).hasMessageContaining("directory");
  }
}
