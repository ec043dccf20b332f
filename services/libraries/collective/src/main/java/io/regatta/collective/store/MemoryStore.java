package io.regatta.collective.store;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicBoolean;

/** A store for ranks of one JVM, which share the object: for tests, and groups of threads. Any thread. */
public final class MemoryStore extends PolledStore {
  private static final long POLL_MILLIS = 8;

  private final ConcurrentMap<String, byte[]> values = new ConcurrentHashMap<>();

  public MemoryStore(Vertx vertx) {
    super(vertx, 1, POLL_MILLIS);
  }

  @Override
  Future<Void> put(String key, byte[] value) {
    values.put(key, value.clone());
    return Future.succeededFuture();
  }

  @Override
  Future<Optional<byte[]>> read(String key) {
    return Future.succeededFuture(Optional.ofNullable(values.get(key)).map(byte[]::clone));
  }

  @Override
  Future<Boolean> swap(String key, Optional<byte[]> expected, byte[] value) {
    AtomicBoolean set = new AtomicBoolean();
    values.compute(key, (k, held) -> {
      boolean as = expected.isEmpty() ? held == null : Arrays.equals(expected.get(), held);
      set.set(as);
      return as ? value.clone() : held;
    });
    return Future.succeededFuture(set.get());
  }

  @Override
  Future<Boolean> remove(String key) {
    return Future.succeededFuture(values.remove(key) != null);
  }

  @Override
  Future<Void> end() {
    values.clear();
    return Future.succeededFuture();
  }

  @Override
  public String toString() {
    return "store in memory";
  }
}
