package io.regatta.collective.store;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.loop.Deadline;
import io.regatta.core.loop.Loop;
import io.regatta.protocol.vertx.LoopFutures;
import io.regatta.protocol.vertx.VertxLoop;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;

/**
 * The common part of stores that can only be asked: waiting by repeated looks, and counters by compare-and-set. Any
 * thread: each call has its own state, which belongs to the caller's loop. The subclass is called on that loop with a
 * checked key and value.
 */
abstract class PolledStore implements Store {
  private static final int COUNTER_RETRY_MILLIS = 20;

  final Vertx vertx;
  private final long firstPollMillis;
  private final long pollMillis;
  private volatile boolean closed;

  /**
   * @param firstPollMillis pause after the first look of a wait, ms; doubled from look to look
   * @param pollMillis longest pause, ms
   */
  PolledStore(Vertx vertx, long firstPollMillis, long pollMillis) {
    if (firstPollMillis < 1 || pollMillis < firstPollMillis) {
      throw new InvalidInput("the pauses between two looks must be at least 1 ms, and the longest no shorter than the "
          + "first: got " + firstPollMillis + " and " + pollMillis + " ms");
    }
    this.vertx = vertx;
    this.firstPollMillis = firstPollMillis;
    this.pollMillis = pollMillis;
  }

  abstract Future<Void> put(String key, byte[] value);

  abstract Future<Optional<byte[]>> read(String key);

  abstract Future<Boolean> swap(String key, Optional<byte[]> expected, byte[] value);

  abstract Future<Boolean> remove(String key);

  /** Releases the resources of the store itself, once. */
  abstract Future<Void> end();

  @Override
  public final Future<Void> set(String key, byte[] value) {
    return begin(() -> {
      Entries.check(key, value);
      return put(key, value);
    });
  }

  @Override
  public final Future<Optional<byte[]>> get(String key) {
    return begin(() -> {
      Entries.checkKey(key);
      return read(key);
    });
  }

  @Override
  public final Future<Boolean> compareAndSet(String key, Optional<byte[]> expected, byte[] value) {
    return begin(() -> {
      Entries.check(key, value);
      return swap(key, expected, value);
    });
  }

  @Override
  public final Future<Boolean> delete(String key) {
    return begin(() -> {
      Entries.checkKey(key);
      return remove(key);
    });
  }

  /**
   * Adds to a counter. A call that loses against another tries again after a pause of random length; one of the
   * contenders always succeeds.
   */
  @Override
  public final Future<Long> add(String key, long delta) {
    return get(key).compose(counter -> {
      long sum = Entries.sum(key, counter, delta);
      return compareAndSet(key, counter, Entries.counter(sum)).compose(set -> set ? Future.succeededFuture(sum)
          : after(1 + ThreadLocalRandom.current().nextInt(COUNTER_RETRY_MILLIS)).compose(v -> add(key, delta)));
    });
  }

  @Override
  public final Future<Void> await(Collection<String> keys, Duration timeout) {
    return begin(() -> {
      keys.forEach(Entries::checkKey);
      VertxLoop loop = VertxLoop.current(vertx);
      Promise<Void> promise = loop.promise();
      new Look(loop, List.copyOf(keys), timeout, promise).look(firstPollMillis);
      return promise.future();
    });
  }

  /** Completes after that many milliseconds on the caller's loop. */
  final Future<Void> after(long millis) {
    return LoopFutures.after(VertxLoop.current(vertx), millis);
  }

  private <T> Future<T> begin(Supplier<Future<T>> operation) {
    if (closed) {
      return Future.failedFuture(new Cancelled(this + " is closed"));
    }
    try {
      return operation.get();
    } catch (RuntimeException e) {
      return Future.failedFuture(e);
    }
  }

  @Override
  public final Future<Void> close() {
    if (closed) {
      return Future.succeededFuture();
    }
    closed = true;
    return end();
  }

  /** One wait for keys. */
  private final class Look {
    private final List<String> keys;
    private final Loop loop;
    private final Duration timeout;
    private final Deadline deadline;
    private final Promise<Void> promise;

    Look(Loop loop, List<String> keys, Duration timeout, Promise<Void> promise) {
      this.loop = loop;
      this.keys = keys;
      deadline = Deadline.in(loop.clock(), timeout);
      this.timeout = timeout;
      this.promise = promise;
    }

    void look(long pauseMillis) {
      List<String> missing = new ArrayList<>();
      missing(0, missing).onComplete(looked -> {
        Throwable failure = closed ? new Cancelled(PolledStore.this + " was closed") : looked.cause();
        if (looked.succeeded() && missing.isEmpty()) {
          promise.complete();
        } else if (failure != null && !(failure instanceof PeerLost)) {
          promise.fail(failure);
        } else if (deadline.isPast()) {
          promise.fail(late(missing, failure));
        } else {
          loop.after(Math.min(pauseMillis, deadline.leftMillis()), () -> look(Math.min(2 * pauseMillis, pollMillis)));
        }
      });
    }

    /** Looks at one key after another, the first one that is missing ends the look. */
    private Future<Void> missing(int from, List<String> missing) {
      int at = from;
      while (at < keys.size()) {
        Future<Optional<byte[]>> value = get(keys.get(at));
        if (!value.succeeded()) { // under way, or failed; those that are there at once take no stack
          int here = at;
          return value.compose(found -> missing(next(here, found, missing), missing));
        }
        at = next(at, value.result(), missing);
      }
      return Future.succeededFuture();
    }

    /** Returns the index of the next key to look at; none, if this one is missing. */
    private int next(int at, Optional<byte[]> found, List<String> missing) {
      if (found.isPresent()) {
        return at + 1;
      }
      missing.addAll(keys.subList(at, keys.size()));
      return keys.size();
    }

    private PeerLost late(List<String> missing, Throwable failure) {
      String after = String.format(Locale.ROOT, " after %.1f s", timeout.toMillis() / 1000.0);
      return failure == null
          ? new PeerLost("wait at " + PolledStore.this + " timed out" + after + ": nobody has set "
              + missing.get(0) + (missing.size() == 1 ? "" : " (nor perhaps "
              + String.join(", ", missing.subList(1, Math.min(missing.size(), 8))) + ")")
              + ". Look at who should have, or wait longer")
          : new PeerLost("wait for " + keys.get(0) + " timed out" + after + ": " + failure.getMessage(), failure);
    }
  }
}
