package io.regatta.node.admin;

import io.regatta.node.address.SeedProbe;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Whether a process is fit to go on: its services' event loops answer, and so does the directory. Owned by its
 * {@link ProcessDiagnostics}; asked by any thread, for a service may answer probes at a port of its own. A process that has no directory
 * yet, because it still joins its cluster, is fit: it only waits.
 */
final class ProcessHealth {

  private final Hosted hosted;
  private final long limitMillis;
  private volatile Supplier<Future<Void>> directory;
  /** The last look at the directory: a cluster that hangs must not be asked several times at once. Guarded by this. */
  private Future<Void> looking = Future.succeededFuture();
  /** The outcome of that look within the limit, which all share who ask meanwhile. Guarded by this. */
  private Future<Void> seen = looking;

  ProcessHealth(Hosted hosted, long limitMillis) {
    this.hosted = hosted;
    this.limitMillis = limitMillis;
  }

  /** @param reachable asks the directory, which is looked at as well from now on */
  void directory(Supplier<Future<Void>> reachable) {
    directory = reachable;
  }

  /** Looks at everything, for at most the limit. Never fails. */
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

  private static Future<Void> ask(Supplier<Future<Void>> joined) {
    try {
      return joined.get();
    } catch (RuntimeException e) {
      return Future.failedFuture(e); // whoever asks for the health is answered, whatever is broken
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
