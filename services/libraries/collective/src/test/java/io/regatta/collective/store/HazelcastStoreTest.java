package io.regatta.collective.store;

import static io.regatta.node.testing.Nodes.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.node.Node;
import io.regatta.node.NodeConfig;
import io.regatta.node.cluster.ClusterConfig;
import io.regatta.node.cluster.ClusteredVertx;
import io.regatta.node.testing.FreePorts;
import io.regatta.protocol.connection.ConnectionLimits;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.security.Tokens;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** In the shared map of one JVM, and in that of Hazelcast. */
class HazelcastStoreTest extends StoreContract {
  @Override
  Store client() {
    return new HazelcastStore(vertx);
  }

  /** It may be the value of a job that runs, which a process with a wrong token must not end. */
  @Test
  @Timeout(60)
  void a_value_of_another_token_stays_while_its_writer_is_in_the_cluster_and_goes_with_it() {
    String name = "test-" + UUID.randomUUID();
    int seed = FreePorts.one();
    Vertx reader = get(ClusteredVertx.start(ClusterConfig.of(name, List.of("127.0.0.1:" + seed), seed), null, false));
    Vertx writer = get(ClusteredVertx.start(ClusterConfig.of(name, List.of("127.0.0.1:" + seed), 0), null, false));
    get(new HazelcastStore(writer, token("first the-first-token-of-this-job")).set("k", new byte[] {1}));
    Store store = new HazelcastStore(reader, token("second the-second-token-of-this-job"), 0);
    for (int look = 0; look < 3; look++) {
      assertThatThrownBy(() -> get(store.get("k"))).isInstanceOf(PeerLost.class).hasMessageContaining("is not sealed");
    }
    get(writer.close());
    assertThat(get(untilOpened(reader, store))).isEmpty();
    assertThat(get(store.compareAndSet("k", Optional.empty(), new byte[] {2}))).isTrue();
    get(reader.close());
  }

  /** The reader hears a moment later that the other member has left. */
  private static Future<Optional<byte[]>> untilOpened(Vertx reader, Store store) {
    return store.get("k").recover(e -> reader.timer(20, TimeUnit.MILLISECONDS)
        .compose(v -> untilOpened(reader, store)));
  }

  private static PeerSecurity token(String line) {
    return PeerSecurity.of(null, Tokens.parse(line, "a test"), null, ConnectionLimits.DEFAULTS);
  }

  @Test
  void theMapIsThatOfTheCluster() {
    int seed = FreePorts.one();
    NodeConfig config = NodeConfig.defaults().withCluster(
        ClusterConfig.of("test-" + UUID.randomUUID(), List.of("127.0.0.1:" + seed), seed));
    Node node = get(Node.start(config, "rendezvous"));
    Store store = new HazelcastStore(node.vertx());
    byte[] all = new byte[256];
    for (int i = 0; i < all.length; i++) {
      all[i] = (byte) i;
    }
    assertThat(get(store.compareAndSet("k", Optional.empty(), all))).isTrue();
    assertThat(get(store.compareAndSet("k", Optional.empty(), all))).isFalse();
    assertThat(get(store.compareAndSet("k", Optional.of(all), new byte[] {1}))).isTrue();
    assertThat(get(store.await("k", Duration.ofSeconds(5)))).containsExactly(1);
    assertThat(get(new HazelcastStore(vertx).get("k"))).as("another cluster").isEmpty();
    assertThat(get(store.add("n", 3))).isEqualTo(3);
    assertThat(get(store.delete("k"))).isTrue();
    get(store.close());
    get(node.close());
  }
}
