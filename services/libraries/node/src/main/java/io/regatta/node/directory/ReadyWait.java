package io.regatta.node.directory;

import io.regatta.core.error.PeerText;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.error.RegattaException;
import io.regatta.core.exchange.Wait;
import io.regatta.core.loop.Loop;
import io.regatta.core.loop.Stopwatch;
import io.regatta.core.loop.Timer;
import io.regatta.node.address.SeedProbe;
import io.regatta.node.admin.Waits;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.net.NetClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One wait for instances of a service. It polls the directory every 200 ms, probes the control ports of the instances
 * found, and logs every 3 s what is missing. An entry stays in the directory for a lease after its owner's death. If
 * there are several for one index, the latest started counts, and all that count are probed once more at the end. Owned
 * by the loop on which {@link #start} was called; all its state lives there.
 */
public final class ReadyWait {

  /** Instead of a number of indices: any one instance will do. */
  static final int ANY = 0;
  static final String RETRY_LINE = "server not ready, wait 3 sec to retry...";
  static final long POLL_MILLIS = 200;
  private static final long SAY_NANOS = 3_000_000_000L;
  private static final Logger LOG = LoggerFactory.getLogger(ReadyWait.class);

  private final Loop loop;
  private final NetClient probe;
  private final Supplier<Future<List<Directory.Instance>>> source;
  private final String service;
  private final int count;
  private final String wanted;
  private final Duration timeout;
  private final String who;
  private final Stopwatch waited;
  private final Promise<List<Directory.Instance>> promise = Promise.promise();
  /** Ids of the instances that have accepted a connection and are still listed. */
  private final Set<String> reachable = new HashSet<>();
  private final Map<String, String> causes = new LinkedHashMap<>();
  private final Waits.Handle handle;
  private String cause;
  /** Runs since the last line; null: there was none. */
  private Stopwatch said;

  /** @param count the instances with the indices 0 .. count-1 are waited for, or {@link #ANY} */
  ReadyWait(Loop loop, NetClient probe, Waits waits, Supplier<Future<List<Directory.Instance>>> source,
      String service, int count, Duration timeout, String who) {
    this.loop = loop;
    waited = Stopwatch.start(loop.clock());
    this.probe = probe;
    this.source = source;
    this.service = service;
    this.count = count;
    this.timeout = timeout;
    this.who = who;
    this.wanted = Math.max(1, count) + " x " + service;
    this.handle = waits.begin(who, "start of the job", "the directory", List.of(new Wait.Peer(wanted, -1, 0)));
    this.cause = who + " waits for " + wanted + ": the directory does not answer";
  }

  Future<List<Directory.Instance>> start() {
    Timer deadline = loop.after(timeout.toMillis(), this::giveUp);
    promise.future().onComplete(done -> {
      deadline.cancel();
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
    source.get().compose(listed -> ready(listed, true)).onComplete(result -> {
      if (promise.future().isComplete()) {
        return;
      }
      if (result.failed()) {
        say(List.of(service), List.of(message(result.cause())), 0);
      } else if (result.result() != null) {
        if (said != null) {
          LOG.info("{}: {} ready after {}", who, wanted, waited);
        }
        promise.tryComplete(result.result());
        return;
      }
      loop.after(POLL_MILLIS, this::poll);
    });
  }

  /** Returns the instances waited for; null, after a log line, if they are not complete. */
  private Future<List<Directory.Instance>> ready(List<Directory.Instance> listed, boolean trusting) {
    List<Directory.Instance> candidates = count == ANY ? Directory.latestFirst(listed) : latestByIndex(listed);
    reachable.retainAll(candidates.stream().map(Directory.Instance::id).toList());
    boolean remembered = !reachable.isEmpty();
    return probe(candidates).compose(up -> {
      if (up.isEmpty() || up.size() < count) {
        missing(listed, candidates, up.size());
        return Future.succeededFuture();
      }
      if (remembered && trusting) { // they may have died while the others were waited for
        reachable.clear();
        return ready(listed, false);
      }
      return Future.succeededFuture(up);
    });
  }

  /** Returns the latest instance of each wanted index, by index. */
  private List<Directory.Instance> latestByIndex(List<Directory.Instance> listed) {
    Map<Integer, Directory.Instance> byIndex = new TreeMap<>();
    for (Directory.Instance instance : Directory.latestFirst(listed)) {
      if (instance.index() >= 0 && instance.index() < count) {
        byIndex.putIfAbsent(instance.index(), instance);
      }
    }
    return List.copyOf(byIndex.values());
  }

  /** Returns the instances that accept a connection; one that did so is not asked again as long as it is listed. */
  private Future<List<Directory.Instance>> probe(List<Directory.Instance> instances) {
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

  private void missing(List<Directory.Instance> listed, List<Directory.Instance> candidates, int ready) {
    List<String> names = new ArrayList<>(causes.keySet());
    List<String> reasons = new ArrayList<>(causes.values());
    List<String> absent = absent(candidates);
    if (!absent.isEmpty()) {
      names.addAll(absent);
      List<Integer> others = listed.stream().map(Directory.Instance::index)
          .filter(index -> count != ANY && (index < 0 || index >= count)).distinct().toList();
      reasons.add(String.join(", ", absent) + " not registered in the directory (start it, with the same "
          + "cluster.name and a seed that it can reach" + (others.isEmpty() ? ")" : "; there are instances with index "
          + others + ", each needs one of its own below " + count + ")"));
    }
    say(names, reasons, ready);
  }

  private void say(List<String> names, List<String> reasons, int ready) {
    handle.waitsFor(names.stream().map(name -> new Wait.Peer(name, -1, 0)).toList());
    cause = who + " waits for " + wanted + ", " + ready + " ready, since " + waited + " of " + timeout.toSeconds()
        + " s: " + String.join("; ", reasons);
    if (said == null || said.nanos() >= SAY_NANOS) {
      said = Stopwatch.start(loop.clock());
      say(LOG, names, cause);
    }
  }

  /** Fails the wait: its time is up. On the owner's loop. */
  void giveUp() {
    promise.tryFail(new PeerLost("gave up after " + waited + ": " + cause
        + ". Start what is missing, or wait longer (--ready-timeout SECONDS, which is node.ready_timeout_seconds)"));
  }

  /** Logs the two lines that launchers look for, then the cause. */
  public static void say(Logger log, List<String> names, String cause) {
    log.warn(RETRY_LINE);
    log.warn("not ready endpoints:['{}']", PeerText.message(String.join("', '", names)));
    log.warn("{}", PeerText.message(cause));
  }

  /** Returns names for the instances that are not registered: with their indices if there are several. */
  private List<String> absent(List<Directory.Instance> candidates) {
    if (count <= 1) {
      return candidates.isEmpty() ? List.of(service) : List.of();
    }
    Set<Integer> free = new TreeSet<>();
    for (int i = 0; i < count; i++) {
      free.add(i);
    }
    candidates.forEach(instance -> free.remove(instance.index()));
    return free.stream().map(index -> service + " " + index).toList();
  }

  private static String message(Throwable e) {
    if (e instanceof RegattaException) {
      return e.getMessage();
    }
    return SeedProbe.reason(e);
  }
}
