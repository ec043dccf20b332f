package io.regatta.node.member;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.VertxInternal;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Threads for calls into Hazelcast. A call blocks for as long as the cluster needs, up to many seconds while members
 * come and go, and must not hold up other blocking work of the process. Results come on the caller's context. These are
 * no worker threads of Vert.x, since verticles use the cluster while their Vertx is being closed. Threads end when
 * there is nothing to do, or with {@link #close}. Thread-safe.
 */
public final class MemberCalls {

  private static final Logger LOG = LoggerFactory.getLogger(MemberCalls.class);
  private static final int THREADS = 8;
  private static final int IDLE_SECONDS = 10;

  private final VertxInternal vertx;
  private final ThreadPoolExecutor threads;

  /** @param name of the threads, e.g. {@code regatta-directory} */
  public MemberCalls(Vertx vertx, String name) {
    this.vertx = (VertxInternal) vertx;
    AtomicInteger number = new AtomicInteger();
    this.threads = new ThreadPoolExecutor(THREADS, THREADS, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(),
        task -> {
          Thread thread = new Thread(task, name + "-" + number.getAndIncrement());
          thread.setDaemon(true);
          return thread;
        });
    threads.allowCoreThreadTimeOut(true);
  }

  /** Runs a call on one of the threads; fails if these have been closed. */
  <T> Future<T> call(Callable<T> operation) {
    Promise<T> promise = vertx.getOrCreateContext().promise();
    try {
      threads.execute(() -> settle(promise, operation));
    } catch (RejectedExecutionException e) {
      promise.fail(e);
    }
    return promise.future();
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

  /** Lets calls that are under way end, and takes no more. */
  public void close() {
    threads.shutdown();
  }
}
