package io.regatta.node;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.shard.Wait;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.net.NetClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One wait for instances of a service: polls the directory every 200 ms, probes the control ports of what it finds,
 * says every 3 s what is missing. Owned by the context on which {@link #start} was called; all its state lives there.
 */
final class ReadyWait {

  static final String RETRY_LINE = "server not ready, wait 3 sec to retry...";
  static final long POLL_MILLIS = 200;
  private static final long SAY_NANOS = 3_000_000_000L;
  private static final Logger LOG = LoggerFactory.getLogger(ReadyWait.class);

  private final Vertx vertx;
  private final NetClient probe;
  private final Supplier<Future<List<Directory.Instance>>> source;
  private final String service;
  private final int count;
  private final Duration timeout;
  private final String who;
  private final long startNanos = System.nanoTime();
  private final Promise<List<Directory.Instance>> promise = Promise.promise();
  private final Set<String> reachable = new HashSet<>();
  private final Map<String, String> causes = new LinkedHashMap<>();
  private final Waits.Handle handle;
  private String cause;
  private long saidNanos;
  private boolean said;

  ReadyWait(Vertx vertx, NetClient probe, Waits waits, Supplier<Future<List<Directory.Instance>>> source,
      String service, int count, Duration timeout, String who) {
    this.vertx = vertx;
    this.probe = probe;
    this.source = source;
    this.service = service;
    this.count = count;
    this.timeout = timeout;
    this.who = who;
    this.handle = waits.begin(who, "start of the job", "the directory",
        List.of(new Wait.Peer(count + " x " + service, -1, 0)));
    this.cause = who + " waits for " + count + " x " + service + ": the directory does not answer";
  }

  Future<List<Directory.Instance>> start() {
    long deadline = vertx.setTimer(Math.max(1, timeout.toMillis()), timer -> giveUp());
    promise.future().onComplete(done -> {
      vertx.cancelTimer(deadline);
      handle.close();
    });
    poll();
    return promise.future();
  }

  void cancel() {
    promise.tryFail(new Cancelled(who + " stopped waiting for " + service + ": this process is shutting down"));
  }

  private void poll() {
    if (promise.future().isComplete()) {
      return;
    }
    source.get().compose(this::probeAll).onComplete(result -> {
      if (promise.future().isComplete()) {
        return;
      }
      if (result.failed()) {
        missing(List.of(), message(result.cause()));
      } else if (result.result().size() >= count) {
        if (said) {
          LOG.info("{}: {} x {} ready after {}", who, count, service, elapsed());
        }
        promise.tryComplete(result.result());
        return;
      } else {
        missing(result.result(), null);
      }
      vertx.setTimer(POLL_MILLIS, timer -> poll());
    });
  }

  /** The instances that accept a connection; one that did so once is not asked again. */
  private Future<List<Directory.Instance>> probeAll(List<Directory.Instance> instances) {
    causes.clear();
    List<Future<Void>> probes = new ArrayList<>();
    for (Directory.Instance instance : instances) {
      if (!reachable.contains(instance.id())) {
        probes.add(probe.connect(instance.controlPort(), instance.host()).compose(socket -> {
          reachable.add(instance.id());
          return socket.close();
        }).recover(e -> {
          causes.put(instance.endpoint(), instance.endpoint() + ": " + message(e));
          return Future.succeededFuture();
        }));
      }
    }
    return Future.join(probes).map(done ->
        instances.stream().filter(instance -> reachable.contains(instance.id())).toList());
  }

  private void missing(List<Directory.Instance> ready, String failure) {
    List<String> names = new ArrayList<>(causes.keySet());
    List<String> reasons = new ArrayList<>(causes.values());
    int unregistered = count - ready.size() - causes.size();
    if (failure != null) {
      names.add(service);
      reasons.add(failure);
    } else if (unregistered > 0) {
      List<String> absent = absent(ready, unregistered);
      names.addAll(absent);
      reasons.add(String.join(", ", absent) + " not registered in the directory (is it started, with the same "
          + "cluster.name and a seed that it can reach?)");
    }
    cause = who + " waits for " + count + " x " + service + ", " + ready.size() + " ready, since " + elapsed()
        + " of " + timeout.toSeconds() + " s: " + String.join("; ", reasons);
    long now = System.nanoTime();
    if (!said || now - saidNanos >= SAY_NANOS) {
      said = true;
      saidNanos = now;
      say(LOG, names, cause);
    }
  }

  private void giveUp() {
    promise.tryFail(new PeerLost("gave up after " + elapsed() + ": " + cause
        + ". Start what is missing, or wait longer (--ready-timeout SECONDS, which is node.ready_timeout_seconds)"));
  }

  /** The two lines that launchers look for, then why. */
  static void say(Logger log, List<String> names, String cause) {
    log.warn(RETRY_LINE);
    log.warn("not ready endpoints:['" + String.join("', '", names) + "']");
    log.warn(cause);
  }

  /** Names for what nobody has registered: with its index where the registered ones have theirs. */
  private List<String> absent(List<Directory.Instance> ready, int unregistered) {
    if (count == 1) {
      return List.of(service);
    }
    Set<Integer> free = new TreeSet<>();
    for (int i = 0; i < count; i++) {
      free.add(i);
    }
    ready.forEach(instance -> free.remove(instance.index()));
    return free.stream().limit(unregistered).map(index -> service + " " + index).toList();
  }

  private String elapsed() {
    return String.format(Locale.ROOT, "%.1f s", (System.nanoTime() - startNanos) / 1e9);
  }

  private static String message(Throwable e) {
    if (e instanceof RegattaException) {
      return e.getMessage();
    }
    return SeedProbe.reason(e);
  }
}
