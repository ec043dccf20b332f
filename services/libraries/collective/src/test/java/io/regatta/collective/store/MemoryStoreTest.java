package io.regatta.collective.store;

import static io.regatta.node.testing.Nodes.get;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class MemoryStoreTest extends StoreContract {
  private Store shared;

  @Override
  Store client() {
    shared = shared == null ? new MemoryStore(vertx) : shared;
    return shared;
  }

  @Test
  void manyKeysThatAreThereAtOnceTakeNoStack() {
    List<String> keys = IntStream.range(0, 30_000).mapToObj(Integer::toString).toList();
    keys.forEach(key -> get(client().set(key, new byte[1])));
    get(client().await(keys, Duration.ofSeconds(20)));
  }
}
