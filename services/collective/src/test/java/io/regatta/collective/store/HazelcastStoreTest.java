package io.regatta.collective.store;

import static io.regatta.node.testing.Nodes.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.node.Node;
import io.regatta.node.NodeConfig;
import io.regatta.node.cluster.ClusterConfig;
import io.regatta.node.testing.FreePorts;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** In the shared map of one JVM, and in that of Hazelcast. */
class HazelcastStoreTest extends StoreContract {
  @Override
  Store client() {
    return new HazelcastStore(vertx);
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
