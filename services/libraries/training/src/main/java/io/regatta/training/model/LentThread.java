package io.regatta.training.model;

import java.util.ArrayDeque;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * A pooled daemon thread that runs one task after another. After a task it waits a while for the next, because MXNet
 * never releases the 4 to 6 MB that it keeps for each thread that has called it. A thread ends at once if its task
 * reports that the thread cannot be reused. There are never more threads than tasks at a time. The thread that has
 * waited for the shortest time is used first, so that the others can end.
 */
final class LentThread extends Thread {

  static final String IDLE_NAME = "regatta-model-idle";

  private record Task(BooleanSupplier work, long idleMillis) {}

  /** Waiting threads, the most recent first; all access under its monitor. */
  private static final ArrayDeque<LentThread> IDLE = new ArrayDeque<>();

  private final BlockingQueue<Task> next = new ArrayBlockingQueue<>(1);

  private LentThread(Task first) {
    super(IDLE_NAME);
    setDaemon(true);
    next.add(first);
  }

  /**
   * Runs work on a waiting thread, or on a new one.
   *
   * @param work does not throw; returns true if its thread may be reused
   * @param idleMillis how long the thread waits after it
   */
  static void run(BooleanSupplier work, long idleMillis) {
    Task task = new Task(work, idleMillis);
    synchronized (IDLE) {
      LentThread waiting = IDLE.poll();
      if (waiting != null) {
        waiting.next.add(task);
        return;
      }
    }
    new LentThread(task).start();
  }

  @Override
  public void run() {
    try {
      Task task = next.take();
      while (task != null && task.work.getAsBoolean()) {
        task = await(task.idleMillis);
      }
    } catch (InterruptedException e) {
      synchronized (IDLE) {
        IDLE.remove(this);
      }
    }
  }

  /** Returns the next task, or null if none has come in time. */
  private Task await(long idleMillis) throws InterruptedException {
    synchronized (IDLE) {
      IDLE.push(this);
    }
    Task task = next.poll(idleMillis, TimeUnit.MILLISECONDS);
    synchronized (IDLE) {
      IDLE.remove(this);
    }
    return task != null ? task : next.poll(); // one may have come in between
  }
}
