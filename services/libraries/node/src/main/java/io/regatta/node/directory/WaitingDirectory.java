package io.regatta.node.directory;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.node.admin.Waits;
import io.regatta.protocol.vertx.VertxLoop;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetClientOptions;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The common part of both directories: waiting, and ending the waits. Called from any thread. */
public abstract class WaitingDirectory implements Directory {

  final Vertx vertx;
  final Waits waits;
  private final NetClient probe;
  private final Set<ReadyWait> open = ConcurrentHashMap.newKeySet();
  private volatile boolean waitsEnded;
  private volatile boolean closed;

  WaitingDirectory(Vertx vertx, Waits waits) {
    this.vertx = vertx;
    this.waits = waits;
    this.probe = vertx.createNetClient(new NetClientOptions().setConnectTimeout(2000));
  }

  @Override
  public final Future<List<Instance>> await(String service, int count, Duration timeout, String who) {
    if (count < 1) {
      throw new IllegalArgumentException("await of " + count + " x " + service);
    }
    return ready(service, count, timeout, who);
  }

  @Override
  public final Future<List<Instance>> awaitAny(String service, Duration timeout, String who) {
    return ready(service, ReadyWait.ANY, timeout, who);
  }

  private Future<List<Instance>> ready(String service, int count, Duration timeout, String who) {
    Promise<List<Instance>> promise = Promise.promise();
    VertxLoop loop = VertxLoop.current(vertx);
    loop.execute(() -> {
      if (waitsEnded) {
        promise.fail(new Cancelled(who + " cannot wait for " + service + ": this process is shutting down"));
        return;
      }
      ReadyWait wait = new ReadyWait(loop, probe, waits, () -> poll(service), service, count, timeout, who);
      open.add(wait);
      Future<List<Instance>> result = wait.start();
      result.onComplete(done -> open.remove(wait));
      result.onComplete(promise);
      if (waitsEnded) { // meanwhile
        wait.cancel();
      }
    });
    return promise.future();
  }

  /** Lists the instances of a service; one attempt. */
  abstract Future<List<Instance>> poll(String service);

  boolean closed() {
    return closed;
  }

  /** Fails all waits, now and later; everything else continues until the close. */
  public void stopWaiting() {
    waitsEnded = true;
    open.forEach(ReadyWait::cancel);
  }

  Future<Void> endWaits() {
    closed = true;
    stopWaiting();
    return probe.close();
  }
}
