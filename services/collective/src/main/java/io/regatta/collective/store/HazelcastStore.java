package io.regatta.collective.store;

import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.node.address.SeedProbe;
import io.regatta.node.directory.EntrySeal;
import io.regatta.node.member.VertxMember;
import io.regatta.protocol.security.PeerSecurity;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;

/**
 * A store in the shared map {@value #MAP}: on a Vertx clustered by Hazelcast the cluster's, so that it outlives any one
 * member; on another Vertx the JVM's. With a token, values are sealed as entries of the directory are
 * ({@link EntrySeal}). A call that needs a value without a seal fails. Any thread; Hazelcast is called on a worker
 * thread of the store's own, one call after another, for its calls block.
 */
public final class HazelcastStore extends PolledStore {
  public static final String MAP = "regatta.store";
  private static final int FIRST_POLL_MILLIS = 5;
  private static final int POLL_MILLIS = 250;
  /** Values are read, and sealed anew, much more often than that while anybody waits for them. */
  private static final long GRACE_MILLIS = 60_000;
  /** Values lie there as text of one character for each byte. */
  private static final Charset BYTES = StandardCharsets.ISO_8859_1;

  private final WorkerExecutor calls;
  private final EntrySeal seal;

  /** A store whose values are not sealed. */
  public HazelcastStore(Vertx vertx) {
    this(vertx, PeerSecurity.NONE);
  }

  /** @param security tokens with which values are sealed, e.g. {@code node.security()} */
  public HazelcastStore(Vertx vertx, PeerSecurity security) {
    super(vertx, FIRST_POLL_MILLIS, POLL_MILLIS);
    this.calls = vertx.createSharedWorkerExecutor("regatta-hazelcast-store-" + UUID.randomUUID(), 1);
    this.seal = new EntrySeal(security, "store entry", GRACE_MILLIS);
  }

  private <T> Future<T> map(Function<Map<String, String>, T> operation) {
    return calls.executeBlocking(() -> {
      try {
        return operation.apply(VertxMember.sharedMap(vertx, MAP));
      } catch (PeerLost e) {
        throw e;
      } catch (RuntimeException e) {
        throw new PeerLost(this + " cannot be used: " + SeedProbe.reason(e), e);
      }
    }, true);
  }

  private String sealed(String key, byte[] value) {
    return seal.seal(name(key), new String(value, BYTES), "");
  }

  /** A key may hold any character: with its length before it, no key and value are sealed as another key and value. */
  private static String name(String key) {
    return key.length() + ":" + key;
  }

  /** @throws PeerLost if the entry is not sealed: another look may find that its owner has written it anew */
  private byte[] opened(String key, String held) {
    String text = !seal.seals() ? held : seal.open(name(key), held).map(EntrySeal.Opened::text)
        .orElseThrow(() -> new PeerLost("key " + key + " of the " + this + " holds a value that is not sealed with "
            + "a token of this process: give all members the job's token, or find out who writes to the Hazelcast "
            + "cluster (docs/security.md). If a token has been replaced since, give the job another name"));
    return text.getBytes(BYTES);
  }

  /** @throws PeerLost if there is an entry, and it is not sealed */
  private boolean isAbsent(String key, String held) {
    if (held != null) {
      opened(key, held);
    }
    return held == null;
  }

  @Override
  public boolean canBeSplit() {
    return true;
  }

  @Override
  Future<Void> put(String key, byte[] value) {
    return map(map -> map.put(key, sealed(key, value))).mapEmpty();
  }

  /** A value that is sealed with another token than this process's first one is sealed anew. */
  @Override
  Future<Optional<byte[]>> read(String key) {
    return map(map -> Optional.ofNullable(map.get(key)).map(held -> {
      byte[] value = opened(key, held);
      String anew = sealed(key, value);
      if (!anew.equals(held)) {
        map.replace(key, held, anew);
      }
      return value;
    }));
  }

  @Override
  Future<Boolean> swap(String key, Optional<byte[]> expected, byte[] value) {
    return map(map -> {
      String own = sealed(key, value);
      if (expected.isEmpty()) {
        return isAbsent(key, map.putIfAbsent(key, own));
      }
      String held = map.get(key);
      while (held != null && Arrays.equals(opened(key, held), expected.get())) {
        if (map.replace(key, held, own)) {
          return true;
        }
        held = map.get(key); // another value now, or the same one sealed anew
      }
      return false;
    });
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
