package io.regatta.collective.store;

import io.vertx.core.Future;
import java.time.Duration;
import java.util.Collection;
import java.util.Optional;

/** One scope of another store, which is the owner's to close. Stateless, any thread. */
final class ScopedStore implements Store {
  private final Store store;
  private final String scope;

  ScopedStore(Store store, String scope) {
    this.store = store;
    this.scope = scope;
  }

  private String at(String key) {
    Entries.checkKey(key);
    return scope + "/" + key;
  }

  @Override
  public boolean canBeSplit() {
    return store.canBeSplit();
  }

  @Override
  public Future<Void> set(String key, byte[] value) {
    return store.set(at(key), value);
  }

  @Override
  public Future<Optional<byte[]>> get(String key) {
    return store.get(at(key));
  }

  @Override
  public Future<Void> await(Collection<String> keys, Duration timeout) {
    return store.await(keys.stream().map(this::at).toList(), timeout);
  }

  @Override
  public Future<Boolean> compareAndSet(String key, Optional<byte[]> expected, byte[] value) {
    return store.compareAndSet(at(key), expected, value);
  }

  @Override
  public Future<Long> add(String key, long delta) {
    return store.add(at(key), delta);
  }

  @Override
  public Future<Boolean> delete(String key) {
    return store.delete(at(key));
  }

  @Override
  public Future<Void> close() {
    return Future.succeededFuture();
  }

  @Override
  public String toString() {
    return "scope " + scope + " of " + store;
  }
}
