package io.regatta.training.model;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One named platform thread for one model replica, while its task runs. Engines keep their recording state per thread.
 * A native step cannot be interrupted, so the thread is a daemon, and the end of a process does not wait for it.
 * Threads come from a pool of the process, see {@link LentThread}; for the engine each is like new. Any thread may use
 * this class.
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
   * @param name of the thread during the task, e.g. {@code regatta-model-census-0.1} for replica 1 of rank 0
   * @param idleMillis how long the thread then waits for another task, from any job of this process, before it ends
   * @param outcome completed on the thread, as the task's last act
   */
  public static <T> ModelExecutor start(String name, long idleMillis, Callable<T> task, CompletableFuture<T> outcome) {
    ModelExecutor executor = new ModelExecutor();
    ClassLoader loader = Thread.currentThread().getContextClassLoader();
    LentThread.run(() -> executor.run(name, loader, task, outcome), idleMillis);
    return executor;
  }

  /** Runs the task; returns true if the thread may be reused. */
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
    boolean reusable = resetForReuse(failure);
    if (failure == null) {
      outcome.complete(value);
    } else {
      outcome.completeExceptionally(failure);
    }
    return reusable;
  }

  /**
   * Returns true if the thread may be reused. A stopped job ends by an exception, which is fine; after an error the
   * state of the engine is unknown.
   */
  private static boolean resetForReuse(Throwable failure) {
    if (failure instanceof Error) {
      return false;
    }
    try {
      return Engines.renewThread() || failure == null;
    } catch (Throwable e) { // the task's outcome must not be lost with it
      LOG.warn("this model thread is not used for other jobs, because its engine state cannot be reset: {}", e.toString());
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
    Thread.interrupted(); // an interrupt was meant for this task
    Thread.currentThread().setName(LentThread.IDLE_NAME);
    Thread.currentThread().setContextClassLoader(ModelExecutor.class.getClassLoader());
  }

  /** Interrupts whatever the task waits for; a running native call continues. */
  public void interrupt() {
    synchronized (lock) {
      interrupted = true;
      if (thread != null) {
        thread.interrupt();
      }
    }
  }
}
