package io.regatta.training.model;

import java.util.ArrayDeque;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * A daemon thread that serves one task after another. One whose task is over waits a while for the next, because MXNet
 * never gives back the 4 to 6 MB that it keeps for each thread that has called it. One whose task says that the thread is
 * spoilt ends at once. There are never more than tasks at a time; the one that has waited for the shortest time is lent
 * first, so that the others can end.
 */
final class LentThread extends Thread {

  static final String IDLE_NAME = "regatta-model-idle";

  private record Task(BooleanSupplier work, long idleMillis) {}

  /** Those that wait, the last to have come first; all access under its monitor. */
  private static final ArrayDeque<LentThread> IDLE = new ArrayDeque<>();

  private final BlockingQueue<Task> next = new ArrayBlockingQueue<>(1);

  private LentThread(Task first) {
    super(IDLE_NAME);
    setDaemon(true);
    next.add(first);
  }

  /**
   * Runs work on a thread that waits, or on a new one.
   *
   * @param work does not throw; true if its thread may serve others
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

  /** The next task, or null when none has come in time. */
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
