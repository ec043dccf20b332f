package io.regatta.rendezvous.http;

import io.regatta.protocol.connection.PeerLog;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The content of the HTTP store of PaddlePaddle's gloo at {@code /SCOPE/KEY} (paddle 2.0's
 * {@code distributed/fleet/utils/http_server.py}). A deleted key stays readable and counts once towards that server's
 * stop rule: in every scope with a size, exactly that number of keys has been deleted.
 *
 * <p>This server continues, for any number of jobs one after the other, often under the same scope. When the rule is
 * met, the next PUT into such a scope finds all of them empty; a scope that is not used is forgotten in time. Without a
 * size the values of gloo's ranks show the end of a run ({@link #beginsAnotherRun}), so that a job may run again. A
 * DELETE with a condition removes the value. Owned by its {@link KeyValueServer}, on its loop.
 */
final class GlooKeyValues implements KeyValues {
  private static final Logger LOG = LoggerFactory.getLogger(GlooKeyValues.class);
  private static final PeerLog RUNS = PeerLog.ofEvents(LOG);
  private static final int SEGMENTS = 3;
  /** Bytes that a rank stores for each other rank. */
  private static final int ADDRESS_BYTES = 136;
  /** Time after which a rank counts as gone; a rank that waits for another asks every 10 ms. */
  private static final long ABANDONED_MILLIS = 10_000;
  private static final Pattern RANK = Pattern.compile("\\d{1,9}");

  private static final class Scope {
    final Map<String, byte[]> values = new HashMap<>();
    final Set<String> deleted = new HashSet<>();
    long askedMillis;

    long bytes() {
      return values.values().stream().mapToLong(value -> value.length).sum();
    }

    int keys() {
      return values.size() + deleted.size();
    }
  }

  private final Map<String, Integer> sizes;
  private final long idleMillis;
  private final LongSupplier clock;
  private final Budget budget;
  private final Map<String, Scope> scopes = new LinkedHashMap<>();

  /** @param clock ms, never going back */
  GlooKeyValues(HttpStoreConfig config, LongSupplier clock) {
    this.sizes = config.glooSizes();
    this.idleMillis = config.idleSeconds() * 1000L;
    this.clock = clock;
    this.budget = new Budget(config);
  }

  @Override
  public Answer answer(String method, String path, Condition condition, byte[] body) {
    String[] segments = path.split("/", -1);
    if (segments.length < SEGMENTS) {
      return Answer.of(400);
    }
    if (segments.length > SEGMENTS) {
      return Answer.DROPPED;
    }
    forgetIdle();
    String name = segments[1];
    String key = segments[2];
    return switch (method) {
      case "GET" -> get(name, key);
      case "PUT" -> put(name, key, condition, body);
      case "DELETE" -> delete(name, key, condition);
      default -> Answer.refusal(501, "this server knows GET, PUT and DELETE");
    };
  }

  private Answer get(String name, String key) {
    byte[] value = held(name, key);
    return value == null ? Answer.NOT_FOUND : Answer.value(value);
  }

  private byte[] held(String name, String key) {
    Scope scope = scopes.get(name);
    if (scope != null) {
      scope.askedMillis = clock.getAsLong();
    }
    return scope == null ? null : scope.values.get(key);
  }

  private Answer put(String name, String key, Condition condition, byte[] value) {
    if (sizes.containsKey(name) && shouldStop()) {
      RUNS.info("all of {} have deleted their keys: the next job begins in empty scopes", sizes);
      sizes.keySet().forEach(this::forget);
    }
    if (!condition.named() && beginsAnotherRun(name, key, value)) {
      RUNS.info("scope {}: rank {} belongs to another run, which begins in an empty scope", name, key);
      forget(name);
    }
    byte[] before = held(name, key);
    if (!condition.holds(before)) {
      return condition.tagged(Answer.of(Condition.FAILED), before);
    }
    Answer refusal = budget.take(before == null ? 1 : 0, value.length, value.length - (before == null ? 0 : before.length));
    if (refusal != null) {
      return refusal;
    }
    scope(name).values.put(key, value);
    return condition.tagged(Answer.OK, value);
  }

  /**
   * Returns true if the values in a scope are those of an earlier run than this rank's. A rank stores its addresses
   * once, {@value #ADDRESS_BYTES} bytes for each other rank, which shows the number of ranks. Then it asks for the
   * others' until all are there; at its end it deletes its own. Another run begins if all ranks have deleted theirs, or
   * if this rank has stored others or has deleted them. It also begins if the number of ranks was another, or if a rank
   * comes and no other waits for it.
   */
  private boolean beginsAnotherRun(String name, String key, byte[] value) {
    Scope scope = scopes.get(name);
    if (scope == null || value.length == 0 || value.length % ADDRESS_BYTES != 0 || !RANK.matcher(key).matches()) {
      return false;
    }
    byte[] before = scope.values.get(key);
    int ranks = value.length / ADDRESS_BYTES + 1;
    return scope.deleted.size() >= ranks
        || before != null && (scope.deleted.contains(key) || !Arrays.equals(before, value))
        || before == null && clock.getAsLong() - scope.askedMillis > ABANDONED_MILLIS
        || scope.values.entrySet().stream().anyMatch(held -> RANK.matcher(held.getKey()).matches()
            && held.getValue().length % ADDRESS_BYTES == 0 && held.getValue().length != value.length);
  }

  private Answer delete(String name, String key, Condition condition) {
    byte[] before = held(name, key);
    if (!condition.holds(before)) {
      return condition.tagged(Answer.of(Condition.FAILED), before);
    }
    if (condition.named()) {
      if (before != null) {
        scopes.get(name).values.remove(key);
        budget.giveBack(1, before.length);
      }
      return condition.tagged(Answer.OK, null);
    }
    Scope known = scopes.get(name);
    if (known != null && known.deleted.contains(key)) {
      return Answer.OK;
    }
    Answer refusal = budget.take(1, 0, 0);
    if (refusal == null) {
      scope(name).deleted.add(key);
    }
    return refusal == null ? Answer.OK : refusal;
  }

  /** Returns true if PaddlePaddle's rule is met; it is from the beginning if no scope has a size. */
  boolean shouldStop() {
    return sizes.entrySet().stream().allMatch(size -> {
      Scope scope = scopes.get(size.getKey());
      return (scope == null ? 0 : scope.deleted.size()) == size.getValue();
    });
  }

  private Scope scope(String name) {
    Scope scope = scopes.computeIfAbsent(name, n -> new Scope());
    scope.askedMillis = clock.getAsLong();
    return scope;
  }

  private void forget(String name) {
    Scope scope = scopes.remove(name);
    if (scope != null) {
      budget.giveBack(scope.keys(), scope.bytes());
    }
  }

  private void forgetIdle() {
    long idleSince = clock.getAsLong() - idleMillis;
    scopes.entrySet().stream().filter(e -> e.getValue().askedMillis < idleSince).map(Map.Entry::getKey).toList()
        .forEach(this::forget);
  }

  @Override
  public String what() {
    return "gloo's key-value server";
  }

  @Override
  public String contentType() {
    return null;
  }
}
