package io.regatta.trainer.heter;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.loop.Loop;
import io.regatta.core.loop.Timer;
import io.regatta.node.directory.Directory;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The search for heter workers in the directory. It reports each worker that a rank may connect to, periodically, and
 * more often while the rank has none. A worker that has refused the rank is not reported for a while, unless it has
 * started again. Owned by the loop of {@link HeterWorkers}.
 */
final class WorkerSearch {

  private static final Logger LOG = LoggerFactory.getLogger(WorkerSearch.class);
  private static final long PERIOD_MILLIS = 5000;
  /** Period while the rank has no worker. */
  private static final long URGENT_MILLIS = 500;
  /** Time after which a worker that had no room is tried again. */
  static final long FULL_MILLIS = 1000;
  /** Time after which a worker that refuses the rank for another reason is tried again. */
  static final long REFUSED_MILLIS = 60_000;

  /** The last refusal by one life of a worker. */
  private record Refusal(Directory.Instance by, boolean full, long atNanos) {

    boolean isBy(Directory.Instance worker) {
      return by.id().equals(worker.id()) && by.incarnation() == worker.incarnation();
    }

    boolean isValid(long nowNanos) {
      return nowNanos - atNanos < TimeUnit.MILLISECONDS.toNanos(full ? FULL_MILLIS : REFUSED_MILLIS);
    }
  }

  private final Loop loop;
  private final Supplier<Future<List<Directory.Instance>>> directory;
  private final Duration patience;
  private final Consumer<Directory.Instance> found;
  /** Refusals by endpoint. */
  private final Map<String, Refusal> refusals = new HashMap<>();
  private Timer listing = Timer.NONE;
  private Timer deadline = Timer.NONE;
  private boolean closed;

  /**
   * Creates a search that has not begun.
   *
   * @param directory lists the heter workers that are registered
   * @param patience time that a rank waits for a worker when it has none
   * @param found receives the registered workers again and again, the latest started first
   */
  WorkerSearch(Loop loop, Supplier<Future<List<Directory.Instance>>> directory, Duration patience,
      Consumer<Directory.Instance> found) {
    this.loop = loop;
    this.directory = directory;
    this.patience = patience;
    this.found = found;
  }

  /** Searches at the usual pace from now on: the rank has a worker. */
  void relax() {
    deadline.cancel();
    list(PERIOD_MILLIS);
  }

  /** Searches often from now on, since the rank has no worker; this task runs if that takes too long. */
  void urge(Runnable givenUp) {
    list(URGENT_MILLIS);
    deadline.cancel();
    deadline = loop.after(patience.toMillis(), givenUp);
  }

  /** Returns the time that a rank waits for a worker. */
  Duration patience() {
    return patience;
  }

  /** Returns the error of a rank that no worker had room for in time. */
  Overloaded noRoom(String refusal) {
    return new Overloaded(refusal + "; no heter worker had room within " + patience.toSeconds()
        + " s; start more heter workers");
  }

  private void list(long millis) {
    listing.cancel();
    listing = closed ? Timer.NONE : loop.every(millis, () -> directory.get().onSuccess(this::listed)
        .onFailure(e -> LOG.debug("the directory does not list heter workers: {}", e.getMessage())));
  }

  private void listed(List<Directory.Instance> listed) {
    long now = loop.clock().nanos();
    for (Directory.Instance at : Directory.latestFirst(listed)) {
      Refusal refusal = refusals.get(at.endpoint());
      if (!closed && (refusal == null || !refusal.isBy(at) || !refusal.isValid(now))) {
        found.accept(at);
      }
    }
  }

  /**
   * Notes that a worker has refused the rank.
   *
   * @return true if this life of the worker has not done so before, for the same kind of reason
   */
  boolean refused(Directory.Instance by, RegattaException why) {
    Refusal refusal = new Refusal(by, why instanceof Overloaded, loop.clock().nanos());
    Refusal before = refusals.put(by.endpoint(), refusal);
    return before == null || !before.isBy(by) || before.full != refusal.full;
  }

  void close() {
    closed = true;
    listing.cancel();
    deadline.cancel();
  }
}
