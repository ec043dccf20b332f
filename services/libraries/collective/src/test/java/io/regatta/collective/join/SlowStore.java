package io.regatta.collective.join;

import io.regatta.collective.store.Store;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.Collection;
import java.util.Optional;
import java.util.function.Supplier;

/** Another store, whose next change of certain keys stays on its way until the test lets it arrive. Thread-safe. */
final class SlowStore implements Store {
  private final Store store;
  private final Promise<Void> arrived = Promise.promise();
  private Promise<Void> held;
  private String prefix;
  volatile String heldKey;

  SlowStore(Store store) {
    this.store = store;
  }

  /** Completes when the next change of such a key is on its way. */
  synchronized Future<Void> next(String keyPrefix) {
    prefix = keyPrefix;
    held = Promise.promise();
    return held.future();
  }

  void deliver() {
    arrived.complete();
  }

  private synchronized <T> Future<T> slowly(String key, Supplier<Future<T>> change) {
    if (prefix == null || !key.startsWith(prefix)) {
      return change.get();
    }
    prefix = null;
    heldKey = key;
    held.complete();
    return arrived.future().compose(v -> change.get());
  }

  @Override
  public Future<Void> set(String key, byte[] value) {
    return slowly(key, () -> store.set(key, value));
  }

  @Override
  public Future<Boolean> compareAndSet(String key, Optional<byte[]> expected, byte[] value) {
    return slowly(key, () -> store.compareAndSet(key, expected, value));
  }

  @Override
  public Future<Optional<byte[]>> get(String key) {
    return store.get(key);
  }

  @Override
  public Future<Void> await(Collection<String> keys, Duration timeout) {
    return store.await(keys, timeout);
  }

  @Override
  public Future<Long> add(String key, long delta) {
    return store.add(key, delta);
  }

  @Override
  public Future<Boolean> delete(String key) {
    return store.delete(key);
  }

  @Override
  public Future<Void> close() {
    return Future.succeededFuture();
  }
}
