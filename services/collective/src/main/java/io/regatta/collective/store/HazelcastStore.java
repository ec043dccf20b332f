package io.regatta.collective.store;

import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.node.address.SeedProbe;
import io.regatta.node.member.VertxMember;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;

/**
 * A store in the shared map {@value #MAP}: on a Vertx clustered by Hazelcast the cluster's, so that it outlives any one
 * member; on another Vertx the JVM's. Any thread; Hazelcast is called on a worker thread of the store's own, one call after
 * another, for its calls block.
 */
public final class HazelcastStore extends PolledStore {
  public static final String MAP = "regatta.store";
  private static final int FIRST_POLL_MILLIS = 5;
  private static final int POLL_MILLIS = 250;
  /** Values lie there as text of one character for each byte. */
  private static final Charset BYTES = StandardCharsets.ISO_8859_1;

  private final WorkerExecutor calls;

  public HazelcastStore(Vertx vertx) {
    super(vertx, FIRST_POLL_MILLIS, POLL_MILLIS);
    this.calls = vertx.createSharedWorkerExecutor("regatta-hazelcast-store-" + UUID.randomUUID(), 1);
  }

  private <T> Future<T> map(Function<Map<String, String>, T> operation) {
    return calls.executeBlocking(() -> {
      try {
        return operation.apply(VertxMember.sharedMap(vertx, MAP));
      } catch (RuntimeException e) {
        throw new PeerLost(this + " cannot be used: " + SeedProbe.reason(e), e);
      }
    }, true);
  }

  @Override
  public boolean canBeSplit() {
    return true;
  }

  @Override
  Future<Void> put(String key, byte[] value) {
    return map(map -> map.put(key, new String(value, BYTES))).mapEmpty();
  }

  @Override
  Future<Optional<byte[]>> read(String key) {
    return map(map -> Optional.ofNullable(map.get(key)).map(text -> text.getBytes(BYTES)));
  }

  @Override
  Future<Boolean> swap(String key, Optional<byte[]> expected, byte[] value) {
    String text = new String(value, BYTES);
    return map(map -> expected.isPresent() ? map.replace(key, new String(expected.get(), BYTES), text)
        : map.putIfAbsent(key, text) == null);
  }

  @Override
  Future<Boolean> remove(String key) {
    return map(map -> map.remove(key) != null);
  }

  @Override
  Future<Void> end() {
    return calls.close();
  }

  @Override
  public String toString() {
    return "store in the Hazelcast cluster";
  }
}
