package io.regatta.node.admin;

import io.regatta.node.address.SeedProbe;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * The health of a process: its services' event loops answer, and so does the directory. Its readiness: its services
 * serve, and the directory answers. Owned by its {@link ProcessDiagnostics}; any thread asks, because a service may
 * answer probes at a port of its own. A process that has no directory yet, because it still joins its cluster, is
 * healthy: it only waits.
 */
final class ProcessHealth {

  private final Hosted hosted;
  private final long limitMillis;
  private volatile Supplier<Future<Void>> directory;
  /** The last check of the directory: a cluster that hangs must not be asked several times at once. Guarded by this. */
  private Future<Void> looking = Future.succeededFuture();
  /** The outcome of that check within the limit, shared by all callers meanwhile. Guarded by this. */
  private Future<Void> seen = looking;

  ProcessHealth(Hosted hosted, long limitMillis) {
    this.hosted = hosted;
    this.limitMillis = limitMillis;
  }

  /**
   * Sets the directory that is checked from now on.
   *
   * @param reachable asks the directory; fails if it does not answer
   */
  void directory(Supplier<Future<Void>> reachable) {
    directory = reachable;
  }

  /** Checks everything, for at most the limit. Never fails. */
  Future<List<Check>> look() {
    Future<List<Check>> loops = hosted.loops(limitMillis);
    Supplier<Future<Void>> joined = directory;
    if (joined == null) {
      return loops;
    }
    Future<Check> reachable = reachable(joined);
    return Future.join(loops, reachable).map(done -> {
      List<Check> checks = new ArrayList<>(loops.result());
      checks.add(reachable.result());
      return checks;
    });
  }

  /**
   * Checks that each service serves and, if all do, that the directory answers: without it no process finds another.
   * Never fails.
   */
  Future<List<Check>> ready() {
    List<Check> services = hosted.ready();
    Supplier<Future<Void>> joined = directory;
    if (joined == null || !services.stream().allMatch(Check::up)) {
      return Future.succeededFuture(services);
    }
    return reachable(joined).map(check -> check.up() ? services
        : Stream.concat(services.stream(), Stream.of(check)).toList());
  }

  private static Future<Void> ask(Supplier<Future<Void>> joined) {
    try {
      return joined.get();
    } catch (RuntimeException e) {
      return Future.failedFuture(e); // the caller gets an answer, whatever is broken
    }
  }

  private Future<Check> reachable(Supplier<Future<Void>> joined) {
    Future<Void> look;
    synchronized (this) {
      if (looking.isComplete()) {
        looking = ask(joined);
        seen = looking.timeout(limitMillis, TimeUnit.MILLISECONDS);
      }
      look = seen;
    }
    return look.map(Check.up("directory")).recover(e ->
        Future.succeededFuture(new Check("directory", false, SeedProbe.reason(e))));
  }
}
