package io.regatta.collective.store;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.loop.Stopwatch;
import io.regatta.node.address.SeedProbe;
import io.regatta.node.directory.EntrySeal;
import io.regatta.node.member.MemberCalls;
import io.regatta.node.member.VertxMember;
import io.regatta.protocol.connection.PeerLog;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.vertx.SystemClock;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.shareddata.AsyncMap;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A store in the shared map {@value #MAP}. On a Vertx clustered by Hazelcast the map is the cluster's, so that it
 * outlives any one member; on another Vertx it is the JVM's. With a token, values are sealed as entries of the
 * directory are ({@link EntrySeal}). A call that needs a value without a seal fails. Such a value is removed if no
 * member of the cluster has written it, and it has not changed for {@value #OUTLAST_MILLIS} ms in which it was asked
 * for. Any thread; Hazelcast is called on threads {@code regatta-store}.
 */
public final class HazelcastStore extends PolledStore {
  public static final String MAP = "regatta.store";
  private static final Logger LOG = LoggerFactory.getLogger(HazelcastStore.class);
  private static final PeerLog REMOVED = PeerLog.ofEvents(LOG);
  private static final int FIRST_POLL_MILLIS = 5;
  private static final int POLL_MILLIS = 250;
  /**
   * Time for which an expired token counts. Values are read, and sealed anew, much more often while anybody waits for
   * them.
   */
  private static final long GRACE_MILLIS = 60_000;
  /** Longer than the time, by default, in which members read a file of tokens again. */
  static final long OUTLAST_MILLIS = 30_000;
  private static final int UNOPENED_MAX = 1000;
  /** Encoding of values in the map, as text of one character for each byte. */
  private static final Charset BYTES = StandardCharsets.ISO_8859_1;

  private final MemberCalls calls;
  private final EntrySeal seal;
  private final long outlastMillis;
  /** Values that cannot be opened, by key, with the time since they were first seen. */
  private final Map<String, Unopened> unopened = new ConcurrentHashMap<>();

  private record Unopened(String held, Stopwatch since) {}

  /** Creates a store whose values are not sealed. */
  public HazelcastStore(Vertx vertx) {
    this(vertx, PeerSecurity.NONE);
  }

  /** @param security tokens with which values are sealed, e.g. {@code node.security()} */
  public HazelcastStore(Vertx vertx, PeerSecurity security) {
    this(vertx, security, OUTLAST_MILLIS);
  }

  /** @param outlastMillis time after which a value that cannot be opened, of a member that has left, is removed */
  HazelcastStore(Vertx vertx, PeerSecurity security, long outlastMillis) {
    super(vertx, FIRST_POLL_MILLIS, POLL_MILLIS);
    this.calls = new MemberCalls(vertx, "regatta-store");
    this.seal = new EntrySeal(security, "store entry", GRACE_MILLIS);
    this.outlastMillis = outlastMillis;
  }

  private <T> Future<T> map(Function<AsyncMap<String, String>, Future<T>> operation) {
    return VertxMember.asyncMap(vertx, MAP, calls).compose(operation)
        .recover(e -> Future.failedFuture(e instanceof RegattaException ? e
            : new PeerLost(this + " cannot be used: " + SeedProbe.reason(e), e)));
  }

  private String sealed(String key, byte[] value) {
    return seal.seal(key, new String(value, BYTES), seal.seals() ? VertxMember.id(vertx) : "");
  }

  /**
   * Completes with the value of an entry, or with none if the entry was left by a former member and is removed.
   *
   * <p>Fails with {@link PeerLost} if the entry is not sealed: another look may find that its owner has written it
   * anew.
   */
  private Future<Optional<EntrySeal.Opened>> opened(AsyncMap<String, String> map, String key, String held) {
    Optional<EntrySeal.Opened> opened = seal.open(key, held);
    if (opened.isPresent()) {
      unopened.remove(key);
      return Future.succeededFuture(seal.seals() ? opened : Optional.of(new EntrySeal.Opened(held, "")));
    }
    PeerLost refusal = new PeerLost("key " + key + " of the " + this + " holds a value that is not sealed with "
        + "a token of this process: give all members the job's token, or find out who writes to the Hazelcast "
        + "cluster (docs/security.md). A value of a former token is removed after " + outlastMillis
        + " ms, unless its writer is still in the cluster");
    return !hasOutlasted(key, held) ? Future.failedFuture(refusal) : map.removeIfPresent(key, held).compose(removed -> {
      unopened.remove(key);
      if (!removed) {
        return Future.failedFuture(refusal);
      }
      REMOVED.warn("key {} of the {} held a value that is not sealed with a token of this process, whose writer is not "
          + "in the cluster: it is removed", key, this);
      return Future.succeededFuture(Optional.empty());
    });
  }

  /**
   * Returns true if a value has stood longer than a reader whose token has changed needs to read its file of tokens and
   * seal the value anew.
   */
  private boolean hasOutlasted(String key, String held) {
    if (isMember(seal.claimedMember(held))) {
      unopened.remove(key);
      return false;
    }
    boolean room = unopened.size() < UNOPENED_MAX;
    Unopened seen = unopened.compute(key, (k, last) -> last != null && last.held().equals(held) ? last
        : last != null || room ? new Unopened(held, Stopwatch.start(SystemClock.get())) : null);
    return seen != null && seen.since().millis() >= outlastMillis;
  }

  private boolean isMember(String writer) {
    return VertxMember.ids(vertx).map(ids -> ids.contains(writer)).orElse(false);
  }

  private static byte[] bytes(EntrySeal.Opened opened) {
    return opened.text().getBytes(BYTES);
  }

  @Override
  public boolean canBeSplit() {
    return true;
  }

  @Override
  Future<Void> put(String key, byte[] value) {
    return map(map -> map.put(key, sealed(key, value)));
  }

  /**
   * Reads a value. One that is sealed with another token than this process's first one, or by a member that has left,
   * is sealed anew.
   */
  @Override
  Future<Optional<byte[]>> read(String key) {
    return map(map -> map.get(key).compose(held -> held == null ? Future.succeededFuture(Optional.empty())
        : opened(map, key, held).compose(found -> found.isEmpty() ? Future.succeededFuture(Optional.<byte[]>empty())
            : sealAnew(map, key, held, found.get()).map(Optional.of(bytes(found.get()))))));
  }

  private Future<Void> sealAnew(AsyncMap<String, String> map, String key, String held, EntrySeal.Opened found) {
    if (!seal.seals()) {
      return Future.succeededFuture();
    }
    Optional<Set<String>> ids = VertxMember.ids(vertx);
    boolean left = ids.isPresent() && !ids.get().contains(found.member());
    String anew = seal.seal(key, found.text(), left ? VertxMember.id(vertx) : found.member());
    return anew.equals(held) ? Future.succeededFuture() : map.replaceIfPresent(key, held, anew).mapEmpty();
  }

  @Override
  Future<Boolean> swap(String key, Optional<byte[]> expected, byte[] value) {
    return map(map -> expected.isEmpty() ? begin(map, key, value)
        : map.get(key).compose(held -> swap(map, key, held, expected.get(), value)));
  }

  /** Writes a value where there is none. */
  private Future<Boolean> begin(AsyncMap<String, String> map, String key, byte[] value) {
    return map.putIfAbsent(key, sealed(key, value)).compose(held -> held == null ? Future.succeededFuture(true)
        : opened(map, key, held).compose(found -> found.isPresent() ? Future.succeededFuture(false)
            : begin(map, key, value)));
  }

  private Future<Boolean> swap(AsyncMap<String, String> map, String key, String held, byte[] expected, byte[] value) {
    if (held == null) {
      return Future.succeededFuture(false);
    }
    return opened(map, key, held).compose(found -> {
      if (found.isEmpty() || !Arrays.equals(bytes(found.get()), expected)) {
        return Future.succeededFuture(false);
      }
      return map.replaceIfPresent(key, held, sealed(key, value)).compose(replaced -> replaced
          ? Future.succeededFuture(true) // else another value now, or the same one sealed anew
          : map.get(key).compose(now -> swap(map, key, now, expected, value)));
    });
  }

  @Override
  Future<Boolean> remove(String key) {
    return map(map -> map.remove(key).map(held -> held != null));
  }

  @Override
  Future<Void> end() {
    calls.close();
    return Future.succeededFuture();
  }

  @Override
  public String toString() {
    return "store in the Hazelcast cluster";
  }
}
