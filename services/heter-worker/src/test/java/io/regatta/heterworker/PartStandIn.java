package io.regatta.heterworker;

import io.regatta.core.error.RegattaException;
import io.regatta.training.heter.PartHost;
import io.regatta.training.heter.PartHost.PartWork;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;

/**
 * A part whose one output is its input times 2, on a thread of its own. It computes a work for each permit. Any thread
 * may use it.
 */
final class PartStandIn implements PartComputation {

  final Semaphore permits;
  final List<Integer> sizes = new CopyOnWriteArrayList<>();
  private final RegattaException defect;
  private final CompletableFuture<Void> ended = new CompletableFuture<>();
  private PartHost host;
  private Thread thread;

  /**
   * Creates one.
   *
   * @param permits works that it computes
   * @param defect with which it fails instead of building its part; null: none
   */
  PartStandIn(int permits, RegattaException defect) {
    this.permits = new Semaphore(permits);
    this.defect = defect;
  }

  PartComputation on(PartHost source) {
    host = source;
    return this;
  }

  @Override
  public CompletableFuture<Void> start() {
    thread = new Thread(this::run, "regatta-part-stand-in");
    thread.start();
    return ended;
  }

  private void run() {
    try {
      host.wanted().toCompletableFuture().get();
      if (defect != null) {
        throw defect;
      }
      host.ready(TestBatches.OWN, true);
      for (PartWork work = next(); work != null; work = next()) {
        permits.acquire();
        sizes.add(work.batches().size());
        work.done().accept(work.batches().stream().map(TestBatches::result).toList());
      }
      ended.complete(null);
    } catch (Exception e) {
      ended.completeExceptionally(e);
    }
  }

  private PartWork next() throws Exception {
    return host.next().toCompletableFuture().get().orElse(null);
  }

  @Override
  public void stop(RegattaException reason) {
    thread.interrupt();
  }

  /** Returns the number of batches that it has computed. */
  int computed() {
    return sizes.stream().mapToInt(Integer::intValue).sum();
  }
}
