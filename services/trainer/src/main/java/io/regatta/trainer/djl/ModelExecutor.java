package io.regatta.trainer.djl;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

/**
 * One named platform thread for one model replica: engines keep their recording state per thread, and a native step
 * cannot be interrupted, so the thread is a daemon and the end of a process does not wait for it. Runs one task.
 */
public final class ModelExecutor {

  private final Thread thread;

  private ModelExecutor(Thread thread) {
    this.thread = thread;
  }

  /**
   * Starts the thread.
   *
   * @param name e.g. {@code regatta-model-census-0.1} for replica 1 of rank 0
   * @param outcome completed on the new thread, as its last act
   */
  public static <T> ModelExecutor start(String name, Callable<T> task, CompletableFuture<T> outcome) {
    Thread thread = new Thread(() -> {
      try {
        outcome.complete(task.call());
      } catch (Throwable e) {
        outcome.completeExceptionally(e);
      }
    }, name);
    thread.setDaemon(true);
    thread.start();
    return new ModelExecutor(thread);
  }

  /** Interrupts whatever the thread waits for; a native call in flight goes on. */
  public void interrupt() {
    thread.interrupt();
  }

  /** Whether the caller is this thread. */
  public boolean isCurrent() {
    return Thread.currentThread() == thread;
  }
}
