package io.regatta.trainer.djl;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * One named platform thread for one model replica, for as long as its task lasts: engines keep their recording state per
 * thread, and a native step cannot be interrupted, so the thread is a daemon and the end of a process does not wait for
 * it.
 *
 * <p>Threads are lent by the process: one whose task has ended well waits for the next for a while, because MXNet never
 * gives back the 4 to 6 MB that it keeps for each thread that has called it. One whose task has failed ends at once:
 * the failure may have left the engine's state on it half-changed.
 */
public final class ModelExecutor {

  private static final String IDLE = "regatta-model-idle";

  private static final ThreadPoolExecutor THREADS = new ThreadPoolExecutor(0, Integer.MAX_VALUE, 0,
      TimeUnit.MILLISECONDS, new SynchronousQueue<>(), task -> {
        Thread thread = new Thread(task, IDLE);
        thread.setDaemon(true);
        thread.setUncaughtExceptionHandler((t, failed) -> { }); // the outcome has it
        return thread;
      });

  private final Object lock = new Object();
  /** Guarded by the lock; null before and after the task. */
  private Thread thread;
  private boolean interrupted;

  private ModelExecutor() {}

  /**
   * Starts the task on a thread of its own.
   *
   * @param name of the thread meanwhile, e.g. {@code regatta-model-census-0.1} for replica 1 of rank 0
   * @param idleMillis how long the thread waits for another task, from any job of this process, before it ends
   * @param outcome completed on the thread, as the task's last act
   */
  public static <T> ModelExecutor start(String name, long idleMillis, Callable<T> task, CompletableFuture<T> outcome) {
    ModelExecutor executor = new ModelExecutor();
    ClassLoader loader = Thread.currentThread().getContextClassLoader();
    THREADS.setKeepAliveTime(idleMillis, TimeUnit.MILLISECONDS);
    THREADS.execute(() -> executor.run(name, loader, task, outcome));
    return executor;
  }

  private <T> void run(String name, ClassLoader loader, Callable<T> task, CompletableFuture<T> outcome) {
    begin(name, loader);
    T value;
    try {
      value = task.call();
    } catch (Throwable e) {
      end();
      outcome.completeExceptionally(e);
      throw new TaskFailed();
    }
    end();
    outcome.complete(value);
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
    Thread.currentThread().setName(IDLE);
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

  /** Ends the thread; nobody sees it. */
  private static final class TaskFailed extends RuntimeException {
    private static final long serialVersionUID = 1;

    TaskFailed() {
      super(null, null, false, false);
    }
  }
}
