package io.regatta.collective.join;

import io.regatta.collective.join.MembershipRecord.Entry;
import io.regatta.collective.store.Store;
import io.vertx.core.Future;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * Heartbeats over a store: each member counts up in a key of its own and watches the keys of others. Clocks are not
 * compared: a member is lost when its count has stood still for a lease by the watcher's own clock, during which the
 * watcher ran. Owned by its {@link StoreSeat}, on its context.
 */
final class StoreHeartbeats {
  private static final String KEY = "pulse/";
  /** A value that is no count, so that no heartbeat follows it. */
  private static final byte[] ENDED = "ended".getBytes(StandardCharsets.UTF_8);

  private record Seen(String count, long sinceNanos, boolean moved) {}

  private final Store store;
  private final String id;
  private final Timing timing;
  private final LongSupplier nanos;
  private final Map<String, Seen> seen = new HashMap<>();
  private long count;
  /** Content of this member's key, as far as is known here. */
  private Optional<byte[]> held = Optional.empty();
  private Future<Void> beating = Future.succeededFuture();
  private long beatenNanos;
  private long lookedNanos;
  private boolean begun;

  StoreHeartbeats(Store store, String id, Timing timing, LongSupplier nanos) {
    this.store = store;
    this.id = id;
    this.timing = timing;
    this.nanos = nanos;
  }

  /**
   * Writes a heartbeat, if one is due, by compare-and-set: a late one, or one after the others have marked this member
   * as ended, does not bring the key back.
   */
  Future<Void> beat() {
    long now = nanos.getAsLong();
    if (begun && now - beatenNanos < timing.beatNanos()) {
      return Future.succeededFuture();
    }
    begun = true;
    beatenNanos = now;
    byte[] next = Long.toString(++count).getBytes(StandardCharsets.UTF_8);
    beating = store.compareAndSet(KEY + id, held, next).compose(beaten -> {
      if (beaten) {
        held = Optional.of(next);
        return Future.succeededFuture();
      }
      // an earlier one was written, though it seemed to fail, or the key is gone: once more with the next look
      begun = false;
      return store.get(KEY + id).map(found -> {
        held = found;
        return null;
      });
    });
    return beating.onFailure(e -> begun = false);
  }

  /** Looks at these members, if a look is due, and returns the lost ones. */
  Future<List<Entry>> lost(List<Entry> watched) {
    long now = nanos.getAsLong();
    if (now - lookedNanos < timing.beatNanos() && seen.keySet().containsAll(ids(watched))) {
      return Future.succeededFuture(List.of());
    }
    if (now - lookedNanos > timing.lease().toNanos() / 2) {
      seen.replaceAll((k, v) -> new Seen(v.count, now, v.moved)); // This process stood still, not the others.
    }
    lookedNanos = now;
    seen.keySet().retainAll(ids(watched));
    List<Entry> lost = new ArrayList<>();
    return look(watched, 0, lost).map(v -> lost);
  }

  private static Set<String> ids(List<Entry> entries) {
    return Set.copyOf(entries.stream().map(Entry::id).toList());
  }

  private Future<Void> look(List<Entry> watched, int from, List<Entry> lost) {
    return from == watched.size() ? Future.succeededFuture() : store.get(KEY + watched.get(from).id()).compose(held -> {
      if (isLost(watched.get(from).id(), held)) {
        lost.add(watched.get(from));
      }
      return look(watched, from + 1, lost);
    });
  }

  private boolean isLost(String other, Optional<byte[]> held) {
    long now = nanos.getAsLong();
    String text = held.map(bytes -> new String(bytes, StandardCharsets.UTF_8)).orElse("");
    Seen before = seen.get(other);
    if (before == null || !before.count.equals(text)) {
      seen.put(other, new Seen(text, now, before != null));
      return false;
    }
    return now - before.sinceNanos > timing.lease().toNanos();
  }

  /** Returns true if all of these have written a heartbeat since this process began to watch them. */
  boolean haveMoved(List<Entry> watched) {
    return watched.stream().allMatch(entry -> seen.containsKey(entry.id()) && seen.get(entry.id()).moved);
  }

  /** Removes the keys of lost members, unless one was slow only and has written a heartbeat meanwhile. */
  Future<Void> forget(List<Entry> gone) {
    return Future.join(gone.stream().map(entry -> forget(KEY + entry.id(), seen.get(entry.id()))).toList()).mapEmpty();
  }

  private Future<Boolean> forget(String key, Seen last) {
    return last == null || last.count.isEmpty() ? Future.succeededFuture(false)
        : store.compareAndSet(key, Optional.of(last.count.getBytes(StandardCharsets.UTF_8)), ENDED)
            .compose(ended -> ended ? store.delete(key) : Future.succeededFuture(false));
  }

  /** Removes this member's own key, after a heartbeat that is on its way. */
  Future<Boolean> end() {
    return beating.transform(done -> store.delete(KEY + id));
  }
}
