package io.regatta.node;

import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Whether a process is fit to go on: its services' event loops answer, and so does the directory. Owned by its
 * {@link Node}; asked on the admin server's event loop.
 */
final class Health {

  private final Hosted hosted;
  private final Directory directory;
  private final long limitMillis;
  /** The last look at the directory: a cluster that hangs must not be asked again and again at the same time. */
  private Future<Void> looking = Future.succeededFuture();

  Health(Hosted hosted, Directory directory, long limitMillis) {
    this.hosted = hosted;
    this.directory = directory;
    this.limitMillis = limitMillis;
  }

  /** Looks at everything, for at most the limit. Never fails. */
  Future<List<Check>> look() {
    Future<List<Check>> loops = hosted.loops(limitMillis);
    Future<Check> reachable = directory();
    return Future.join(loops, reachable).map(done -> {
      List<Check> checks = new ArrayList<>(loops.result());
      checks.add(reachable.result());
      return checks;
    });
  }

  private Future<Check> directory() {
    if (looking.isComplete()) {
      looking = directory.reachable();
    }
    return looking.timeout(limitMillis, TimeUnit.MILLISECONDS).map(Check.up("directory")).recover(e ->
        Future.succeededFuture(new Check("directory", false, SeedProbe.reason(e))));
  }
}
