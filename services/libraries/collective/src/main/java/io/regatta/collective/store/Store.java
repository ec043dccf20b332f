package io.regatta.collective.store;

import io.vertx.core.Future;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * A small key-value store that several processes share: the ranks of a group leave their addresses there and agree on
 * the membership (as in torch's and Gloo's stores). Any thread; futures complete on the caller's context, if it has
 * one.
 *
 * <p>A key is 1 to {@value #KEY_CHARACTERS} characters, and a value at most {@value #VALUE_BYTES} bytes: a store is no
 * way for tensors. Operations on one key happen one after another, in the same order for everybody. Failures are
 * {@link io.regatta.core.error.RegattaException}s: {@code InvalidInput} for a key or value that can never be stored,
 * {@code Overloaded} at a limit of the store, {@code PeerLost} if the store cannot be reached. A failed operation may
 * have happened; only the looks of {@link #await} are repeated.
 */
public interface Store {

  int KEY_CHARACTERS = 512;
  int VALUE_BYTES = 1 << 20;

  /** Sets a key, whatever it held. */
  Future<Void> set(String key, byte[] value);

  /** Returns the key's value, empty if it has none. */
  Future<Optional<byte[]>> get(String key);

  /**
   * Completes when all keys have values at once.
   *
   * @return fails with {@code PeerLost} after the timeout, naming the keys without a value; while the store cannot be
   *     reached it is asked again until then, for it may be starting
   */
  Future<Void> await(Collection<String> keys, Duration timeout);

  /** Waits as {@link #await(Collection, Duration)}, for one key, and returns its value. */
  default Future<byte[]> await(String key, Duration timeout) {
    return await(List.of(key), timeout).compose(v -> get(key)).map(Optional::orElseThrow);
  }

  /**
   * Returns true if parts of this store can live on by themselves when the network between them fails, each with contents of its own
   * for those who reach it.
   */
  default boolean canBeSplit() {
    return false;
  }

  /**
   * Sets a key if it holds what is expected.
   *
   * @param expected empty: no value
   * @return whether it was set
   */
  Future<Boolean> compareAndSet(String key, Optional<byte[]> expected, byte[] value);

  /**
   * Adds to a counter: decimal text, 0 if the key has no value.
   *
   * @return the sum; fails with {@code InvalidInput} if the key holds no number or the sum overflows
   */
  Future<Long> add(String key, long delta);

  /** Removes a key's value; false if it had none. */
  Future<Boolean> delete(String key);

  /**
   * Returns the keys of one scope (a job, a group) as a store of their own: {@code scope/key} here. Closing it does
   * nothing.
   */
  default Store under(String scope) {
    return new ScopedStore(this, scope);
  }

  /** Returns a name for messages, e.g. {@code store at http://10.0.0.1:6767}. */
  @Override
  String toString();

  /** Ends the use of the store by this process; its content stays, but for one in memory. */
  Future<Void> close();
}
