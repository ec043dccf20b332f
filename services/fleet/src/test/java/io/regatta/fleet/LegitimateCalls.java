package io.regatta.fleet;

import io.regatta.core.error.RegattaException;
import io.regatta.node.process.Blocking;
import io.regatta.protocol.client.ParameterServerControl;
import io.regatta.protocol.client.RendezvousClient;
import io.regatta.protocol.network.Network;
import io.regatta.protocol.network.NoResponseException;
import io.regatta.protocol.network.VertxNetwork;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * Calls with the job's token to its rendezvous and its parameter server, one after the other on a thread of their own.
 * They use connections that were there before, and new ones. A call is repeated where the job's own processes repeat
 * it: if it has got no connection. Thread-safe.
 */
final class LegitimateCalls implements AutoCloseable {

  private static final int CALLS_OF_A_CONNECTION = 10;
  /** A Vertx keeps what clients that were closed have had, some kB each, until it is closed itself. */
  private static final int CLIENTS_OF_A_VERTX = 20;
  private static final int MOST_TRIES = 5;

  private final AttackedJob job;
  private final Vertx vertx = small();
  private final RendezvousClient rendezvous;
  private final ParameterServerControl server;
  private final ExecutorService thread = Executors.newSingleThreadExecutor();
  private final CompletableFuture<Void> calling;
  private final AtomicBoolean over = new AtomicBoolean();
  private final AtomicLong count = new AtomicLong();
  private final AtomicLong slowestNanos = new AtomicLong();

  /** Connects, authenticates, and calls from now on. */
  LegitimateCalls(AttackedJob job) {
    this.job = job;
    rendezvous = new RendezvousClient(network(vertx), "127.0.0.1", job.rendezvousPort());
    server = new ParameterServerControl(network(vertx), "127.0.0.1", job.serverPort());
    call(rendezvous::groups);
    call(server::shardMap);
    calling = CompletableFuture.runAsync(this::callOn, thread);
  }

  private static Vertx small() {
    return Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1).setWorkerPoolSize(1).setInternalBlockingPoolSize(1));
  }

  private Network network(Vertx of) {
    return new VertxNetwork(of, job.node().control());
  }

  private void callOn() {
    while (!over.get()) {
      Vertx fresh = small();
      try {
        for (int i = 0; i < CLIENTS_OF_A_VERTX && !over.get(); i++) {
          RendezvousClient client = new RendezvousClient(network(fresh), "127.0.0.1", job.rendezvousPort());
          for (int j = 0; j < CALLS_OF_A_CONNECTION; j++) {
            call(client::groups);
          }
          call(rendezvous::groups);
          call(server::shardMap);
          Blocking.get(client.close());
        }
      } finally {
        Blocking.get(fresh.close());
      }
    }
  }

  private <T> void call(Supplier<Future<T>> call) {
    long begin = System.nanoTime();
    for (int tries = 1; true; tries++) {
      try {
        Blocking.get(call.get());
        break;
      } catch (RegattaException e) {
        if (tries == MOST_TRIES || !NoResponseException.isBeforeSending(e)) {
          throw e;
        }
      }
    }
    slowestNanos.accumulateAndGet(System.nanoTime() - begin, Math::max);
    count.incrementAndGet();
  }

  /** Returns how many calls have been answered; fails if one was not. */
  long count() {
    if (calling.isCompletedExceptionally()) {
      throw new AssertionError("a call of the job has failed", calling.handle((done, failure) -> failure).join());
    }
    return count.get();
  }

  /** Waits until more calls than a number have been answered, for a time at most. */
  void awaitMoreThan(long calls, long nanos) {
    for (long end = System.nanoTime() + nanos; count() <= calls && System.nanoTime() < end;) {
      Thread.onSpinWait();
    }
  }

  /** Returns the time of the slowest call since this was last asked. */
  long slowestMillis() {
    return TimeUnit.NANOSECONDS.toMillis(slowestNanos.getAndSet(0));
  }

  /** Ends the calls; fails if one was not answered. */
  @Override
  public void close() {
    over.set(true);
    calling.exceptionally(counted -> null).join();
    thread.shutdown();
    Blocking.get(vertx.close());
    count();
  }
}
