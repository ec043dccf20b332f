package io.regatta.predictor;

import io.regatta.core.loop.Clock;
import io.regatta.core.loop.Loop;
import io.regatta.core.loop.Timer;
import io.regatta.protocol.vertx.SystemClock;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The thread of a model: it computes, and owns network and tables. Any thread may call its methods. */
final class ModelLoop implements Loop {

  private final ScheduledThreadPoolExecutor executor;
  private volatile Thread thread;

  /** @param name of the thread, which is a daemon: a native computation cannot be interrupted */
  ModelLoop(String name) {
    ClassLoader loader = Thread.currentThread().getContextClassLoader();
    executor = new ScheduledThreadPoolExecutor(1, task -> {
      thread = new Thread(task, name);
      thread.setDaemon(true);
      thread.setContextClassLoader(loader);
      return thread;
    });
    executor.setRemoveOnCancelPolicy(true);
  }

  @Override
  public Clock clock() {
    return SystemClock.get();
  }

  @Override
  public boolean isCurrent() {
    return Thread.currentThread() == thread;
  }

  @Override
  public void execute(Runnable task) {
    executor.execute(task);
  }

  @Override
  public void defer(Runnable task) {
    executor.execute(task);
  }

  @Override
  public Timer after(long millis, Runnable task) {
    Future<?> timer = executor.schedule(task, Math.max(1, millis), TimeUnit.MILLISECONDS);
    return () -> timer.cancel(false);
  }

  @Override
  public Timer every(long millis, Runnable task) {
    Future<?> timer = executor.scheduleAtFixedRate(task, millis, millis, TimeUnit.MILLISECONDS);
    return () -> timer.cancel(false);
  }

  /** Ends the thread after the tasks and timers that have been given, and refuses others. */
  void end() {
    executor.shutdown();
  }
}
