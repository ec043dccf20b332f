package io.regatta.collective.store;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicBoolean;

/** A client of a store in memory that several share until it is split, as the members of a Hazelcast cluster. */
public final class SplittingStore extends PolledStore {
  private volatile ConcurrentMap<String, byte[]> values;

  private SplittingStore(Vertx vertx, ConcurrentMap<String, byte[]> values) {
    super(vertx, 1, 8);
    this.values = values;
  }

  public SplittingStore(Vertx vertx) {
    this(vertx, new ConcurrentHashMap<>());
  }

  /** Another client, on the other side of the network that will fail. */
  public SplittingStore other(Vertx vertx) {
    return new SplittingStore(vertx, values);
  }

  /** Gives this client contents of its own from now on, which begin as those of all. */
  public void split() {
    values = new ConcurrentHashMap<>(values);
  }

  @Override
  public boolean canBeSplit() {
    return true;
  }

  @Override
  Future<Void> put(String key, byte[] value) {
    values.put(key, value);
    return Future.succeededFuture();
  }

  @Override
  Future<Optional<byte[]>> read(String key) {
    return Future.succeededFuture(Optional.ofNullable(values.get(key)));
  }

  @Override
  Future<Boolean> swap(String key, Optional<byte[]> expected, byte[] value) {
    AtomicBoolean set = new AtomicBoolean();
    values.compute(key, (k, held) -> {
      set.set(expected.isEmpty() ? held == null : Arrays.equals(expected.get(), held));
      return set.get() ? value : held;
    });
    return Future.succeededFuture(set.get());
  }

  @Override
  Future<Boolean> remove(String key) {
    return Future.succeededFuture(values.remove(key) != null);
  }

  @Override
  Future<Void> end() {
    return Future.succeededFuture();
  }
}
