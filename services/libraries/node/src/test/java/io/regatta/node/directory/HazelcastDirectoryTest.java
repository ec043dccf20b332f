package io.regatta.node.directory;

import static io.regatta.node.testing.Nodes.awaitChecks;
import static io.regatta.node.testing.Nodes.checks;
import static io.regatta.node.testing.Nodes.get;
import static io.regatta.node.testing.Nodes.instance;
import static io.regatta.node.testing.Nodes.poll;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.map.IMap;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.node.Node;
import io.regatta.node.NodeConfig;
import io.regatta.node.admin.Waits;
import io.regatta.node.cluster.ClusterConfig;
import io.regatta.node.cluster.ClusteredVertx;
import io.regatta.node.directory.Directory.Instance;
import io.regatta.node.member.VertxMember;
import io.regatta.node.testing.BlockedLoopGuard;
import io.regatta.node.testing.FreePorts;
import io.regatta.node.testing.LeftoverThreads;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.net.NetServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Real Hazelcast members in one JVM, over loopback. */
@ExtendWith(BlockedLoopGuard.class)
class HazelcastDirectoryTest {

  private final LeftoverThreads threads = LeftoverThreads.snapshot();
  private final String cluster = "test-" + UUID.randomUUID();
  private final int seedPort = FreePorts.one();
  private final List<Node> nodes = new ArrayList<>();

  @AfterEach
  void closeAll() {
    List<Future<Void>> closing = nodes.stream().map(Node::close).toList();
    get(Future.join(closing));
    threads.assertNone();
  }

  private NodeConfig config(int port) {
    return config(port, 2);
  }

  private NodeConfig config(int port, int leaseSeconds) {
    ClusterConfig d = ClusterConfig.of(cluster, List.of("127.0.0.1:" + seedPort), port);
    return NodeConfig.defaults().withCluster(d.withLeaseSeconds(leaseSeconds));
  }

  private Future<Node> start(int port, String role) {
    return start(config(port), role);
  }

  private Future<Node> start(NodeConfig config, String role) {
    return Node.start(config, role).onSuccess(node -> {
      synchronized (nodes) {
        nodes.add(node);
      }
    });
  }

  @Test
  void threeNodesFindEachOthersInstancesWhateverStartsFirst() {
    Future<Node> trainer = start(0, "trainer");
    Future<Node> server = start(0, "parameter-server");
    Node rendezvous = get(start(seedPort, "rendezvous"));
    NetServer port = listen(rendezvous.vertx());

    get(get(server).directory().register(instance("parameter-server", "ps-b", 1, port.actualPort())));
    get(rendezvous.directory().register(instance("parameter-server", "ps-a", 0, port.actualPort())));

    for (Node node : List.of(get(trainer), get(server), rendezvous)) {
      assertThat(get(node.directory().list("parameter-server"))).extracting(Instance::id)
          .containsExactly("ps-a", "ps-b");
      assertThat(get(node.directory().list("rendezvous"))).isEmpty();
    }
    assertThat(get(get(trainer).directory().await("parameter-server", 2, Duration.ofSeconds(10), "trainer 0")))
        .extracting(Instance::index).containsExactly(0, 1);
  }

  /** Each of these calls waits for a lock in the cluster; there are as many as Vert.x has threads for blocking work. */
  @Test
  void callsThatHangDoNotHoldUpOtherBlockingWork() {
    Node node = get(start(seedPort, "rendezvous"));
    HazelcastInstance hazelcast = VertxMember.under(node.vertx()).orElseThrow();
    IMap<String, String> entries = hazelcast.getMap(HazelcastDirectory.MAP);
    List<Integer> places = IntStream.range(0, VertxOptions.DEFAULT_WORKER_POOL_SIZE).boxed().toList();
    places.forEach(place -> entries.lock("parameter-server/" + place));
    List<Future<Registration>> registered = places.stream().map(place -> node.directory().registerSole(
        instance("parameter-server", "ps-" + place, place, 1001 + place), holder -> Future.succeededFuture(true),
        "end one")).toList();
    try {
      assertThat(get(node.vertx().executeBlocking(() -> "done"))).isEqualTo("done");
      assertThat(registered).noneMatch(Future::isComplete);
    } finally {
      places.forEach(place -> entries.unlock("parameter-server/" + place));
    }
    get(Future.join(registered));
  }

  @Test
  void aClosedRegistrationIsGoneAtOnceAndALostOwnersEntryWithItsLease() {
    Node seed = get(start(seedPort, "rendezvous"));
    Vertx other = get(ClusteredVertx.start(config(0).cluster(), null, false));
    Directory otherDirectory = new HazelcastDirectory(other, new Waits(), 2);
    Registration registration = get(seed.directory().register(instance("rendezvous", "r", 0, 1)));
    assertThat(get(otherDirectory.list("rendezvous"))).hasSize(1);
    get(registration.close());
    assertThat(get(otherDirectory.list("rendezvous"))).isEmpty();

    // The owner dies without a word: only its Vertx goes, the registration is never closed.
    get(otherDirectory.register(instance("parameter-server", "ps", 0, 1)));
    IMap<String, String> entries = VertxMember.under(seed.vertx()).orElseThrow().getMap(HazelcastDirectory.MAP);
    assertThat(entries.getEntryView("parameter-server/ps").getTtl()).as("ms, whatever time the rest takes").isEqualTo(2000);
    get(other.close());
    poll(seed, "parameter-server", 0);
  }

  @Test
  void aPlaceForOneIsHeldAgainstOtherMembersUntilItsHolderNoLongerAnswers() {
    Node seed = get(start(config(seedPort, 9), "rendezvous")); // which is longer than a machine stands still
    Node other = get(start(config(0, 600), "parameter-server"));
    Registration former = get(seed.directory().registerSole(instance("parameter-server", "a", 0, 1001),
        holder -> Future.succeededFuture(true), ""));
    assertThatThrownBy(() -> get(other.directory().registerSole(instance("parameter-server", "b", 0, 1002),
        holder -> Future.succeededFuture(true), "end one"))).isInstanceOf(Conflict.class)
        .hasMessageContaining("parameter-server 0 is at 127.0.0.1:1001, process ");
    get(other.directory().registerSole(instance("parameter-server", "b", 0, 1002),
        holder -> Future.succeededFuture(false), ""));
    assertThat(get(former.lost())).as("when it wakes").contains("taken by 127.0.0.1:1002");
    assertThat(get(seed.directory().list("parameter-server"))).extracting(Instance::id).containsExactly("b");
  }

  @Test
  void aLeaseIsRenewedForLongerThanItLasts() {
    Node seed = get(start(config(seedPort, 5), "rendezvous")); // which is longer than a machine stands still
    get(seed.directory().register(instance("rendezvous", "r", 0, 1)));
    Registration place = get(seed.directory().registerSole(instance("parameter-server", "ps", 0, 1), holder -> Future.succeededFuture(true), ""));
    for (int second = 0; second < 8; second++) {
      get(seed.vertx().timer(1, TimeUnit.SECONDS).mapEmpty());
      assertThat(get(seed.directory().list("rendezvous"))).as("after %d s", second + 1).hasSize(1);
      assertThat(get(seed.directory().list("parameter-server"))).as("a place, after %d s", second + 1).hasSize(1);
    }
    IMap<String, String> entries = VertxMember.under(seed.vertx()).orElseThrow().getMap(HazelcastDirectory.MAP);
    assertThat(entries.getEntryView("parameter-server/0").getTtl()).as("a renewed entry still runs out").isEqualTo(5000);
    assertThat(place.lost().isComplete()).isFalse();
  }

  @Test
  void aTrainerClosesPromptlyWhenAllServicesHaveGone() {
    Node seed = get(start(seedPort, "rendezvous"));
    Node trainer = get(start(0, "trainer"));
    get(trainer.directory().register(instance("trainer", "t", 0, 1)));
    Future<List<Instance>> waiting =
        trainer.directory().await("parameter-server", 1, Duration.ofSeconds(60), "trainer 0");
    get(seed.close());
    long asked = System.nanoTime();
    get(trainer.close());
    assertThat(Duration.ofNanos(System.nanoTime() - asked)).isLessThan(Duration.ofSeconds(20));
    assertThatThrownBy(() -> get(waiting)).isInstanceOf(Cancelled.class);
  }

  @Test
  void aTrainerFindsServicesAgainAfterTheSeedHasRestarted() throws Exception {
    Node seed = get(start(seedPort, "rendezvous"));
    Node trainer = get(start(0, "trainer"));
    get(seed.directory().register(instance("rendezvous", "first", 0, 1)));
    poll(trainer, "rendezvous", 1);
    awaitChecks(trainer, "/health", 200, "directory: UP");
    get(seed.close());
    assertThat(checks(trainer, "/health", 503)).as("nobody is left who holds data").singleElement().asString()
        .startsWith("directory: DOWN, ");
    Node again = get(start(seedPort, "rendezvous"));
    get(again.directory().register(instance("rendezvous", "second", 0, 1)));
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    List<Instance> seen = List.of();
    while (seen.stream().noneMatch(i -> i.id().equals("second")) && System.nanoTime() < deadline) {
      seen = get(trainer.directory().list("rendezvous").recover(e -> Future.succeededFuture(List.of())));
    }
    assertThat(seen).extracting(Instance::id).containsExactly("second");
    awaitChecks(trainer, "/health", 200, "directory: UP");
  }

  @Test
  void aTrainerAloneWaitsForASeedAndGivesUpNamingIt() {
    NodeConfig d = config(0);
    NodeConfig impatient = d.withReadyTimeoutSeconds(1);
    assertThatThrownBy(() -> get(Node.start(impatient, "trainer"))).isInstanceOf(PeerLost.class)
        .hasMessageContaining("127.0.0.1:" + seedPort).hasMessageContaining("connection refused");
  }

  @Test
  void aStartIsGivenUpWhileItJoins() {
    Node.Starting starting = Node.begin(config(0), "trainer");
    starting.cancel();
    assertThatThrownBy(() -> get(starting.future())).isInstanceOf(Cancelled.class);
  }

  @Test
  void aPortInUseIsSaidInOneLine() {
    get(start(seedPort, "rendezvous"));
    assertThatThrownBy(() -> get(Node.start(config(seedPort), "rendezvous")))
        .hasMessageContaining("port " + seedPort).hasMessageContaining("in use");
  }

  private static NetServer listen(Vertx vertx) {
    return get(vertx.createNetServer().connectHandler(socket -> { }).listen(0, "127.0.0.1"));
  }
}
