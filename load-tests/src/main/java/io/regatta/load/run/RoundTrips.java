package io.regatta.load.run;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.json.JsonObject;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.function.Supplier;

/** Round trips made one after another, each timed. Owned by the thread that makes them. */
public final class RoundTrips {
  private final Supplier<Future<?>> trip;
  private final long[] nanos;
  private final Promise<JsonObject> done = Promise.promise();
  private int next;

  private RoundTrips(Supplier<Future<?>> trip, int times) {
    this.trip = trip;
    nanos = new long[times];
  }

  /** Makes them on an event loop. Completes with {@code p50} and {@code p99} in microseconds. */
  public static Future<JsonObject> make(int times, Supplier<Future<?>> trip) {
    RoundTrips trips = new RoundTrips(trip, times);
    trips.go();
    return trips.done.future();
  }

  /** Makes them by a thread that waits for each. */
  public static JsonObject waited(int times, Callable<?> trip) throws Exception {
    long[] nanos = new long[times];
    for (int i = 0; i < times; i++) {
      long begin = System.nanoTime();
      trip.call();
      nanos[i] = System.nanoTime() - begin;
    }
    return told(nanos);
  }

  private static JsonObject told(long[] nanos) {
    Arrays.sort(nanos);
    return new JsonObject().put("p50", nanos[nanos.length / 2] / 1e3)
        .put("p99", nanos[(int) (nanos.length * 0.99)] / 1e3);
  }

  private void go() {
    long begin = System.nanoTime();
    trip.get().onComplete(r -> {
      nanos[next++] = System.nanoTime() - begin;
      if (r.failed()) {
        done.fail(r.cause());
      } else if (next < nanos.length) {
        go();
      } else {
        done.complete(told(nanos));
      }
    });
  }
}
