package io.regatta.node.member;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.protocol.vertx.VertxLoop;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Threads for calls into Hazelcast. A call blocks for as long as the cluster needs, up to many seconds while members
 * come and go, and must not hold up other blocking work of the process. Results come on the caller's context. These are
 * no worker threads of Vert.x, since verticles use the cluster while their Vertx is being closed. At most
 * {@value #WAITING_MAX} calls wait for a thread, further ones fail. Threads end when idle, or with {@link #close}.
 * Thread-safe.
 */
public final class MemberCalls {

  private static final Logger LOG = LoggerFactory.getLogger(MemberCalls.class);
  private static final int THREADS = 8;
  private static final int IDLE_SECONDS = 10;
  /** Limit of waiting calls, many seconds' work of a busy process: a cluster that is further behind does not answer. */
  static final int WAITING_MAX = 1024;

  private final Vertx vertx;
  private final ThreadPoolExecutor threads;
  private final String name;
  /** Held during each call of an owner; null: the calls have no common one. */
  private final Lock turn;
  private final BooleanSupplier ended;

  /** @param name of the threads, e.g. {@code regatta-directory} */
  public MemberCalls(Vertx vertx, String name) {
    this.vertx = vertx;
    AtomicInteger number = new AtomicInteger();
    this.name = name;
    this.turn = null;
    this.ended = () -> false;
    this.threads = new ThreadPoolExecutor(THREADS, THREADS, IDLE_SECONDS, TimeUnit.SECONDS,
        new LinkedBlockingQueue<>(WAITING_MAX), task -> {
          Thread thread = new Thread(task, name + "-" + number.getAndIncrement());
          thread.setDaemon(true);
          return thread;
        });
    threads.allowCoreThreadTimeOut(true);
  }

  private MemberCalls(MemberCalls threads, Lock turn, BooleanSupplier ended) {
    this.vertx = threads.vertx;
    this.threads = threads.threads;
    this.name = threads.name;
    this.turn = turn;
    this.ended = ended;
  }

  /**
   * Returns calls of one owner on the same threads. They run one at a time, and a call that has not begun fails once
   * the owner has ended. So an entry that an ended owner has removed is not written again by a waiting call.
   *
   * @param turn the owner's; calls with the same one exclude each other
   * @param ended asked when a call begins
   */
  public MemberCalls owned(Lock turn, BooleanSupplier ended) {
    return new MemberCalls(this, turn, ended);
  }

  /** Runs a call on one of the threads; fails if these have been closed, or too many calls wait for them. */
  <T> Future<T> call(Callable<T> operation) {
    Promise<T> promise = VertxLoop.current(vertx).promise();
    try {
      threads.execute(() -> settle(promise, turn == null ? operation : () -> inTurn(operation)));
    } catch (RejectedExecutionException e) {
      promise.fail(threads.isShutdown() ? new Cancelled(name + " is closed")
          : new Overloaded(WAITING_MAX + " calls into Hazelcast wait for the threads " + name + ": the cluster does "
              + "not answer. Look at its members, and at the network between them"));
    }
    return promise.future();
  }

  private <T> T inTurn(Callable<T> operation) throws Exception {
    turn.lock();
    try {
      if (ended.getAsBoolean()) {
        throw new Cancelled("a call into Hazelcast was not begun: its owner has ended");
      }
      return operation.call();
    } finally {
      turn.unlock();
    }
  }

  private static <T> void settle(Promise<T> promise, Callable<T> operation) {
    T result = null;
    Throwable failure = null;
    try {
      result = operation.call();
    } catch (Exception | Error e) {
      failure = e;
    }
    try {
      promise.complete(result, failure);
    } catch (RejectedExecutionException e) {
      LOG.debug("a call into Hazelcast has outlasted its Vertx", e);
    }
  }

  /** Lets calls that are under way end, and accepts no more. */
  public void close() {
    threads.shutdown();
  }
}
