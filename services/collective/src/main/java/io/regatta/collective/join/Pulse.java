package io.regatta.collective.join;

import io.regatta.collective.join.Roll.Entry;
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
 * Signs of life over a store: a key for each member, in which it counts up, and what this process has seen of the others'.
 * Nobody compares clocks: a member is lost when its count has stood still for a lease by the watcher's own clock, during
 * which the watcher ran. Owned by its {@link StoreSeat}, on that one's context.
 */
final class Pulse {
  private static final String KEY = "pulse/";

  private record Seen(String count, long sinceNanos, boolean moved) {}

  private final Store store;
  private final String id;
  private final Timing timing;
  private final LongSupplier nanos;
  private final Map<String, Seen> seen = new HashMap<>();
  private long count;
  private long beatenNanos;
  private long lookedNanos;
  private boolean begun;

  Pulse(Store store, String id, Timing timing, LongSupplier nanos) {
    this.store = store;
    this.id = id;
    this.timing = timing;
    this.nanos = nanos;
  }

  /** Gives a sign of life, if one is due. */
  Future<Void> beat() {
    long now = nanos.getAsLong();
    if (begun && now - beatenNanos < timing.beatNanos()) {
      return Future.succeededFuture();
    }
    begun = true;
    beatenNanos = now;
    return store.set(KEY + id, Long.toString(++count).getBytes(StandardCharsets.UTF_8));
  }

  /** Looks at these members, if a look is due, and gives those that are lost. */
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

  /** Whether all of these have given a sign of life since this process began to watch them. */
  boolean haveMoved(List<Entry> watched) {
    return watched.stream().allMatch(entry -> seen.containsKey(entry.id()) && seen.get(entry.id()).moved);
  }

  /** Takes away what lost members have left. */
  Future<Void> forget(List<Entry> gone) {
    return Future.join(gone.stream().map(entry -> store.delete(KEY + entry.id())).toList()).mapEmpty();
  }

  /** Takes this member's own key away. */
  Future<Boolean> end() {
    return store.delete(KEY + id);
  }
}
