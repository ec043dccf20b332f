package io.regatta.training.model;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One named platform thread for one model replica, for as long as its task lasts: engines keep their recording state per
 * thread, and a native step cannot be interrupted, so the thread is a daemon and the end of a process does not wait for
 * it. Threads are lent by the process, see {@link LentThread}; to the engine each is as new. Any thread.
 */
public final class ModelExecutor {

  private static final Logger LOG = LoggerFactory.getLogger(ModelExecutor.class);

  private final Object lock = new Object();
  /** Guarded by the lock; null before and after the task. */
  private Thread thread;
  private boolean interrupted;

  private ModelExecutor() {}

  /**
   * Starts the task on a thread of its own.
   *
   * @param name of the thread meanwhile, e.g. {@code regatta-model-census-0.1} for replica 1 of rank 0
   * @param idleMillis how long the thread then waits for another task, from any job of this process, before it ends
   * @param outcome completed on the thread, as the task's last act
   */
  public static <T> ModelExecutor start(String name, long idleMillis, Callable<T> task, CompletableFuture<T> outcome) {
    ModelExecutor executor = new ModelExecutor();
    ClassLoader loader = Thread.currentThread().getContextClassLoader();
    LentThread.run(() -> executor.run(name, loader, task, outcome), idleMillis);
    return executor;
  }

  /** Returns whether the thread may serve others. */
  private <T> boolean run(String name, ClassLoader loader, Callable<T> task, CompletableFuture<T> outcome) {
    begin(name, loader);
    T value = null;
    Throwable failure = null;
    try {
      value = task.call();
    } catch (Throwable e) {
      failure = e;
    }
    end();
    boolean again = mayServeOthers(failure);
    if (failure == null) {
      outcome.complete(value);
    } else {
      outcome.completeExceptionally(failure);
    }
    return again;
  }

  /** A stopped job ends by an exception as well; after an error nobody knows what state the engine is in. */
  private static boolean mayServeOthers(Throwable failure) {
    if (failure instanceof Error) {
      return false;
    }
    try {
      return Engines.renewThread() || failure == null;
    } catch (Throwable e) { // the task's outcome must not be lost with it
      LOG.warn("this model thread serves no other job: {}", e.toString());
      return false;
    }
  }

  private void begin(String name, ClassLoader loader) {
    Thread current = Thread.currentThread();
    current.setName(name);
    current.setContextClassLoader(loader);
    synchronized (lock) {
      thread = current;
      if (interrupted) {
        current.interrupt();
      }
    }
  }

  private void end() {
    synchronized (lock) {
      thread = null;
    }
    Thread.interrupted(); // was for this task
    Thread.currentThread().setName(LentThread.IDLE_NAME);
    Thread.currentThread().setContextClassLoader(ModelExecutor.class.getClassLoader());
  }

  /** Interrupts whatever the task waits for; a native call in flight goes on. */
  public void interrupt() {
    synchronized (lock) {
      interrupted = true;
      if (thread != null) {
        thread.interrupt();
      }
    }
  }
}
