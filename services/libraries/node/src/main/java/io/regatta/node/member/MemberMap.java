package io.regatta.node.member;

import com.hazelcast.map.IMap;
import com.hazelcast.nio.serialization.HazelcastSerializationException;
import io.regatta.protocol.connection.PeerLog;
import io.vertx.core.Future;
import io.vertx.core.shareddata.AsyncMap;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A map of a Hazelcast cluster, called on the threads of {@link MemberCalls}. It holds small texts. A foreign object
 * under a key is removed when that key is used; {@link #entries} and {@link #values} fail with
 * {@link ClassCastException} if there is any. Any thread.
 */
final class MemberMap implements AsyncMap<String, String> {

  private static final Logger LOG = LoggerFactory.getLogger(MemberMap.class);

  private static final PeerLog STRANGE = PeerLog.ofEvents(LOG);
  /** Number of foreign objects removed for one call: their writer may write again. */
  private static final int REMOVALS = 3;

  private final IMap<String, String> map;
  private final MemberCalls calls;

  MemberMap(IMap<String, String> map, MemberCalls calls) {
    this.map = map;
    this.calls = calls;
  }

  private Future<Void> run(Runnable operation) {
    return calls.call(() -> {
      operation.run();
      return null;
    });
  }

  /**
   * Carries out an operation that returns the value under a key. A value that is no text was not written by Regatta,
   * and would block the key for ever: it is removed, and the operation is repeated.
   */
  private String text(String key, Supplier<Object> operation) {
    for (int removals = 0; ; removals++) {
      String what;
      try {
        Object there = operation.get();
        if (there == null || there instanceof String) {
          return (String) there;
        }
        what = there.getClass().getName();
      } catch (HazelcastSerializationException | ClassCastException e) {
        what = e.toString();
      }
      if (removals == REMOVALS) {
        throw new ClassCastException("under " + key + " of " + map.getName() + " stands again and again what is no text: "
            + what + "; find out which other program writes to this map, and close Hazelcast's port to it");
      }
      STRANGE.warn("what stood under {} of {} is no text of Regatta's, and has been removed: {}. Find out which other program "
          + "writes to this map, and close Hazelcast's port to it (docs/security.md)", key, map.getName(), what);
      map.delete(key);
    }
  }

  @Override
  public Future<String> get(String key) {
    return calls.call(() -> text(key, () -> map.get(key)));
  }

  @Override
  public Future<Void> put(String key, String value) {
    return run(() -> map.set(key, value));
  }

  @Override
  public Future<Void> put(String key, String value, long ttlMillis) {
    return run(() -> map.set(key, value, ttlMillis, TimeUnit.MILLISECONDS));
  }

  @Override
  public Future<String> putIfAbsent(String key, String value) {
    return calls.call(() -> text(key, () -> map.putIfAbsent(key, value)));
  }

  @Override
  public Future<String> putIfAbsent(String key, String value, long ttlMillis) {
    return calls.call(() -> text(key, () -> map.putIfAbsent(key, value, ttlMillis, TimeUnit.MILLISECONDS)));
  }

  @Override
  public Future<String> remove(String key) {
    return calls.call(() -> map.remove(key));
  }

  @Override
  public Future<Boolean> removeIfPresent(String key, String value) {
    return calls.call(() -> map.remove(key, value));
  }

  @Override
  public Future<String> replace(String key, String value) {
    return calls.call(() -> map.replace(key, value));
  }

  @Override
  public Future<String> replace(String key, String value, long ttlMillis) {
    return Future.failedFuture(new UnsupportedOperationException("Hazelcast's replace takes no time to live"));
  }

  @Override
  public Future<Boolean> replaceIfPresent(String key, String oldValue, String newValue) {
    return calls.call(() -> map.replace(key, oldValue, newValue));
  }

  /**
   * Returns whether the old value was there, and is replaced. If it is also the new one, its time to live is set and
   * nothing is written. Another value under the key gets that time as well, so it may last longer than it would.
   */
  @Override
  public Future<Boolean> replaceIfPresent(String key, String oldValue, String newValue, long ttlMillis) {
    return calls.call(() -> oldValue.equals(newValue)
        ? map.setTtl(key, ttlMillis, TimeUnit.MILLISECONDS) && newValue.equals(text(key, () -> map.get(key)))
        : replaceLocked(key, oldValue, newValue, ttlMillis));
  }

  /**
   * Hazelcast's own replace takes no time to live. An entry would last for ever if its owner were killed between that
   * call and one that sets the time. So the two are one under a lock of the key, which itself ends after that time.
   */
  private boolean replaceLocked(String key, String oldValue, String newValue, long ttlMillis)
      throws InterruptedException {
    if (!map.tryLock(key, ttlMillis, TimeUnit.MILLISECONDS, ttlMillis, TimeUnit.MILLISECONDS)) {
      return false;
    }
    try {
      boolean there = oldValue.equals(text(key, () -> map.get(key)));
      if (there) {
        map.set(key, newValue, ttlMillis, TimeUnit.MILLISECONDS);
      }
      return there;
    } finally {
      unlock(key);
    }
  }

  private void unlock(String key) {
    try {
      map.unlock(key);
    } catch (IllegalMonitorStateException e) {
      LOG.debug("the lock of {} has ended by its time, after the entry was written or left", key, e);
    }
  }

  @Override
  public Future<Void> clear() {
    return run(map::clear);
  }

  @Override
  public Future<Integer> size() {
    return calls.call(map::size);
  }

  /** Returns the keys that are texts. */
  @Override
  public Future<Set<String>> keys() {
    return calls.call(() -> {
      Set<String> texts = new HashSet<>();
      for (Object key : map.keySet()) {
        if (key instanceof String text) {
          texts.add(text);
        }
      }
      return texts;
    });
  }

  @Override
  public Future<List<String>> values() {
    return entries().map(entries -> new ArrayList<>(entries.values()));
  }

  @Override
  public Future<Map<String, String>> entries() {
    return calls.call(() -> {
      Map<String, String> texts = new HashMap<>();
      for (Map.Entry<?, ?> entry : map.entrySet()) {
        texts.put((String) entry.getKey(), (String) entry.getValue());
      }
      return texts;
    });
  }
}
