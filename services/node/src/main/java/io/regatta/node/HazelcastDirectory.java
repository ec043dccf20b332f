package io.regatta.node;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.PeerLost;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import io.vertx.core.shareddata.AsyncMap;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A directory in Vert.x's shared map {@value #MAP}: one small JSON text per instance with a time to live, renewed by
 * its owner three times per lease. On a Vertx clustered by Hazelcast the map is the cluster's; on any other Vertx it
 * is the JVM's, so that services of one JVM find each other without a cluster. Any thread.
 */
public final class HazelcastDirectory extends WaitingDirectory {

  static final String MAP = "regatta.directory";
  private static final long RETRY_MILLIS = 200;
  /** A close must not wait for a cluster whose other members have gone. */
  private static final long REMOVE_MILLIS = 1000;
  private static final Logger LOG = LoggerFactory.getLogger(HazelcastDirectory.class);

  private final long leaseMillis;
  private final Set<Lease> leases = ConcurrentHashMap.newKeySet();

  /** @param leaseSeconds how long an entry outlives its owner's last renewal, s */
  public HazelcastDirectory(Vertx vertx, Waits waits, int leaseSeconds) {
    super(vertx, waits);
    this.leaseMillis = leaseSeconds * 1000L;
  }

  @Override
  public Future<Registration> register(Instance instance) {
    Lease lease = new Lease(instance.with(PID, Long.toString(ProcessHandle.current().pid())));
    return retry(() -> lease.put(), "register " + instance.service() + " at " + instance.endpoint()).map(v -> {
      lease.keep();
      return lease;
    });
  }

  @Override
  public Future<List<Instance>> list(String service) {
    return retry(() -> poll(service), "list " + service);
  }

  @Override
  public Future<Void> reachable() {
    return poll(RENDEZVOUS).mapEmpty();
  }

  @Override
  Future<List<Instance>> poll(String service) {
    return map().compose(AsyncMap::entries).map(entries -> {
      List<Instance> out = new ArrayList<>();
      entries.forEach((key, value) -> {
        if (key.startsWith(service + "/")) {
          out.add(decode(value));
        }
      });
      out.sort(Comparator.comparingInt(Instance::index).thenComparing(Instance::id));
      return out;
    });
  }

  @Override
  public Future<Void> close() {
    List<Future<Void>> all = new ArrayList<>();
    leases.forEach(lease -> all.add(lease.close()));
    return endWaits().compose(v -> Future.join(all).mapEmpty());
  }

  private Future<AsyncMap<String, String>> map() {
    return vertx.sharedData().getAsyncMap(MAP);
  }

  /** Repeats an operation while the cluster has no data member (it starts, or just lost its last one). */
  private <T> Future<T> retry(Supplier<Future<T>> operation, String what) {
    Promise<T> promise = Promise.promise();
    attempt(operation, what, System.nanoTime() + leaseMillis * 1_000_000, promise);
    return promise.future();
  }

  private <T> void attempt(Supplier<Future<T>> operation, String what, long deadlineNanos, Promise<T> promise) {
    if (closed()) {
      promise.fail(new Cancelled("cannot " + what + ": the directory is closed"));
      return;
    }
    operation.get().onComplete(result -> {
      if (result.succeeded()) {
        promise.complete(result.result());
      } else if (HazelcastMember.isTransient(result.cause()) && System.nanoTime() < deadlineNanos) {
        vertx.setTimer(RETRY_MILLIS, timer -> attempt(operation, what, deadlineNanos, promise));
      } else {
        promise.fail(closed() ? new Cancelled("cannot " + what + ": the directory is closed")
            : new PeerLost("cannot " + what + " in the Hazelcast directory: " + SeedProbe.reason(result.cause()),
                result.cause()));
      }
    });
  }

  private static String key(Instance instance) {
    return instance.service() + "/" + instance.id();
  }

  private static String encode(Instance i) {
    JsonObject attributes = new JsonObject();
    i.attributes().forEach(attributes::put);
    return new JsonObject().put("service", i.service()).put("id", i.id()).put("index", i.index())
        .put("host", i.host()).put("control_port", i.controlPort()).put("incarnation", i.incarnation())
        .put("attributes", attributes).encode();
  }

  private static Instance decode(String text) {
    JsonObject json = new JsonObject(text);
    Map<String, String> attributes = new HashMap<>();
    json.getJsonObject("attributes").forEach(entry -> attributes.put(entry.getKey(), (String) entry.getValue()));
    return new Instance(json.getString("service"), json.getString("id"), json.getInteger("index"),
        json.getString("host"), json.getInteger("control_port"), json.getLong("incarnation"), attributes);
  }

  /** One entry that this process keeps alive. Its timer runs on the context that registered. */
  private final class Lease implements Registration {

    private final Instance instance;
    private final String text;
    private volatile long timer = -1;
    private volatile boolean ended;
    private volatile boolean failing;

    Lease(Instance instance) {
      this.instance = instance;
      this.text = encode(instance);
    }

    Future<Void> put() {
      return map().compose(map -> map.put(key(instance), text, leaseMillis));
    }

    void keep() {
      leases.add(this);
      timer = vertx.setPeriodic(leaseMillis / 3, id -> renew());
    }

    private void renew() {
      put().compose(v -> ended ? remove() : Future.succeededFuture()).onComplete(result -> {
        if (result.failed() && !failing && !ended) {
          LOG.warn("{} {} cannot renew its entry in the directory and tries again every {} ms: {}",
              instance.service(), instance.endpoint(), leaseMillis / 3, SeedProbe.reason(result.cause()));
        }
        failing = result.failed();
      });
    }

    private Future<Void> remove() {
      return map().compose(map -> map.removeIfPresent(key(instance), text)).mapEmpty();
    }

    /** If the entry cannot be removed any more, its lease ends it: that is no failure. */
    @Override
    public Future<Void> close() {
      if (ended) {
        return Future.succeededFuture();
      }
      ended = true;
      leases.remove(this);
      vertx.cancelTimer(timer);
      return remove().timeout(REMOVE_MILLIS, TimeUnit.MILLISECONDS).recover(e -> {
        LOG.debug("entry of {} {} is left to its lease: {}", instance.service(), instance.id(), e.toString());
        return Future.succeededFuture();
      });
    }
  }
}
