package io.regatta.rendezvous;

import com.google.protobuf.ByteString;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.Wait;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/**
 * The key-value store of one {@link Group}. Owned by the group, on its thread. Counters are decimal text, so that
 * {@code get} shows what {@code add} made; an absent one counts as 0.
 */
final class GroupStore {

  /** One caller that waits for keys. Compared by identity: each is a call of its own. */
  private static final class Waiter {
    final List<String> keys;
    final long sinceMillis;
    final long deadlineMillis;
    final BiConsumer<Boolean, RegattaException> done;

    Waiter(List<String> keys, long sinceMillis, long deadlineMillis, BiConsumer<Boolean, RegattaException> done) {
      this.keys = keys;
      this.sinceMillis = sinceMillis;
      this.deadlineMillis = deadlineMillis;
      this.done = done;
    }
  }

  private final String group;
  private final RendezvousConfig.Limits limits;
  private final LongSupplier clock;
  private final Map<String, ByteString> values = new HashMap<>();
  private final Set<Waiter> waiters = new LinkedHashSet<>();
  private long bytes;

  GroupStore(String group, RendezvousConfig.Limits limits, LongSupplier clock) {
    this.group = group;
    this.limits = limits;
    this.clock = clock;
  }

  void set(String key, ByteString value) {
    ByteString before = values.get(key);
    long grown = bytes + value.size() - (before == null ? 0 : before.size());
    if (value.size() > limits.valueBytes()) {
      throw new InvalidInput("value of key " + key + " of group " + group + " has " + value.size()
          + " bytes, more than rendezvous.limits.value_bytes " + limits.valueBytes());
    }
    if (before == null && values.size() >= limits.keys()) {
      throw new Overloaded("group " + group + " has " + values.size()
          + " keys, the limit (rendezvous.limits.keys); delete some before setting " + key);
    }
    if (grown > limits.storeBytes()) {
      throw new Overloaded("the store of group " + group + " would hold " + grown
          + " bytes, more than rendezvous.limits.store_bytes " + limits.storeBytes() + "; delete some keys first");
    }
    values.put(key, value);
    bytes = grown;
    for (Waiter waiter : List.copyOf(waiters)) {
      if (values.keySet().containsAll(waiter.keys) && waiters.remove(waiter)) {
        waiter.done.accept(true, null);
      }
    }
  }

  Optional<ByteString> get(String key) {
    return Optional.ofNullable(values.get(key));
  }

  /**
   * Sets a key if it holds what is expected.
   *
   * @param expected null: no value
   */
  boolean compareAndSet(String key, ByteString expected, ByteString value) {
    boolean as = Objects.equals(values.get(key), expected);
    if (as) {
      set(key, value);
    }
    return as;
  }

  boolean delete(String key) {
    ByteString before = values.remove(key);
    bytes -= before == null ? 0 : before.size();
    return before != null;
  }

  long add(String key, long delta) {
    ByteString before = values.get(key);
    try {
      long sum = Math.addExact(before == null ? 0 : Long.parseLong(before.toStringUtf8()), delta);
      set(key, ByteString.copyFromUtf8(Long.toString(sum)));
      return sum;
    } catch (NumberFormatException e) {
      throw new InvalidInput("key " + key + " of group " + group + " holds no decimal number, so " + delta
          + " cannot be added to it; use another key for the counter", e);
    } catch (ArithmeticException e) {
      throw new InvalidInput("counter " + key + " of group " + group + " would overflow 64 bits by adding " + delta, e);
    }
  }

  /**
   * Answers when all keys are there at once.
   *
   * @return to be run when the caller has gone
   */
  Runnable await(List<String> keys, long timeoutMillis, BiConsumer<Boolean, RegattaException> done) {
    if (values.keySet().containsAll(keys)) {
      done.accept(true, null);
      return () -> { };
    }
    if (waiters.size() >= limits.waits()) {
      throw new Overloaded("group " + group + " has " + waiters.size()
          + " callers waiting for keys, the limit (rendezvous.limits.waits); try again later");
    }
    long now = clock.getAsLong();
    Waiter waiter = new Waiter(keys, now, now + timeoutMillis, done);
    waiters.add(waiter);
    return () -> waiters.remove(waiter);
  }

  void expire(long now) {
    for (Waiter waiter : List.copyOf(waiters)) {
      if (now >= waiter.deadlineMillis && waiters.remove(waiter)) {
        waiter.done.accept(null, new PeerLost("wait in group " + group + " timed out after "
            + GroupMember.seconds(now - waiter.sinceMillis) + ": nobody has set "
            + missing(waiter).stream().collect(Collectors.joining(", "))
            + ". Look at who should have, or wait longer"));
      }
    }
  }

  private List<String> missing(Waiter waiter) {
    return waiter.keys.stream().filter(key -> !values.containsKey(key)).toList();
  }

  void close(RegattaException reason) {
    List<Waiter> all = List.copyOf(waiters);
    waiters.clear();
    all.forEach(w -> w.done.accept(null, reason));
  }

  List<Wait> waits() {
    List<Wait> waits = new ArrayList<>();
    for (Waiter waiter : waiters) {
      List<Wait.Peer> missing = missing(waiter).stream().map(k -> new Wait.Peer("key " + k, -1, 0)).toList();
      waits.add(new Wait("a caller", "wait for keys", "group " + group, waiter.sinceMillis, missing));
    }
    return waits;
  }
}
