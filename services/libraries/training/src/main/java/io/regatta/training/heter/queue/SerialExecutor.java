package io.regatta.training.heter.queue;

import java.util.ArrayDeque;
import java.util.concurrent.Executor;

/**
 * An executor without a thread: it runs tasks one after the other, on the threads that give them. A thread that finds it
 * busy leaves its task to the thread that is at work. Any thread may use it; its lock is not held while a task runs.
 */
public final class SerialExecutor implements Executor {

  private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
  private boolean busy;

  @Override
  public void execute(Runnable task) {
    synchronized (this) {
      tasks.add(task);
      if (busy) {
        return;
      }
      busy = true;
    }
    for (Runnable next = next(); next != null; next = next()) {
      try {
        next.run();
      } catch (RuntimeException | Error e) { // the other tasks have other callers
        Thread thread = Thread.currentThread();
        thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
      }
    }
  }

  private synchronized Runnable next() {
    Runnable next = tasks.poll();
    busy = next != null;
    return next;
  }
}
