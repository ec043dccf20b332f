package io.regatta.collective.store;

import io.regatta.protocol.client.RendezvousClient;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The key-value store of a group at the rendezvous service, over gRPC. It exists as long as the group has a member or a
 * process waits to join it; otherwise every call fails with {@code NotOwner}. Any thread.
 */
public final class RendezvousStore implements Store {
  private final RendezvousClient client;
  private final String group;

  /** @param client the store's from now on: it closes it */
  public RendezvousStore(RendezvousClient client, String group) {
    this.client = client;
    this.group = group;
  }

  private static <T> Future<T> checked(String key, byte[] value, Supplier<Future<T>> call) {
    try {
      Entries.check(key, value);
    } catch (RuntimeException e) {
      return Future.failedFuture(e);
    }
    return call.get();
  }

  private static <T> Future<T> checked(String key, Supplier<Future<T>> call) {
    return checked(key, new byte[0], call);
  }

  @Override
  public Future<Void> set(String key, byte[] value) {
    return checked(key, value, () -> client.set(group, key, value));
  }

  @Override
  public Future<Optional<byte[]>> get(String key) {
    return checked(key, () -> client.get(group, key));
  }

  @Override
  public Future<Void> await(Collection<String> keys, Duration timeout) {
    return client.awaitKeys(group, List.copyOf(keys), Math.max(1, timeout.toMillis()));
  }

  @Override
  public Future<Boolean> compareAndSet(String key, Optional<byte[]> expected, byte[] value) {
    return checked(key, value, () -> client.compareAndSet(group, key, expected, value));
  }

  @Override
  public Future<Long> add(String key, long delta) {
    return checked(key, () -> client.add(group, key, delta));
  }

  @Override
  public Future<Boolean> delete(String key) {
    return checked(key, () -> client.delete(group, key));
  }

  @Override
  public Future<Void> close() {
    return client.close();
  }

  @Override
  public String toString() {
    return "store of group " + group + " at the rendezvous";
  }
}
