package io.regatta.core.testing;

import io.regatta.core.loop.Clock;
import io.regatta.core.loop.Loop;
import io.regatta.core.loop.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.function.BooleanSupplier;

/**
 * Time of a simulation: one scheduler in the calling thread drives the loops of all owners. Time stands still while
 * tasks run, and jumps to the next task when nothing is left to do now. Tasks of one loop at one time keep their order;
 * between loops a seed decides which runs first. Confined to the thread that created it.
 */
public final class VirtualTime implements Clock {
  private static final long NANOS_PER_MILLI = 1_000_000;
  /** 2026-01-01T00:00:00Z: dates in messages look like dates. */
  private static final long EPOCH_MILLIS = 1_767_225_600_000L;

  private final List<SimulatedLoop> loops = new ArrayList<>();
  private final Random random;
  private long nanos;
  private long number;
  private SimulatedLoop current;

  /** Creates a time at which loops take turns in the order of their tasks. */
  public VirtualTime() {
    random = null;
  }

  /** Creates a time at which the seed decides about the order of different loops. */
  public VirtualTime(long seed) {
    random = new Random(seed);
  }

  @Override
  public long nanos() {
    return nanos;
  }

  @Override
  public long epochMillis() {
    return EPOCH_MILLIS + nanos / NANOS_PER_MILLI;
  }

  @Override
  public void pause(long pauseNanos) {
    throw new IllegalStateException("the one thread of a simulation would wait for itself");
  }

  /** Returns the loop of a new owner. */
  public Loop loop(String name) {
    SimulatedLoop loop = new SimulatedLoop(name);
    loops.add(loop);
    return loop;
  }

  /** Runs everything that is due until this much time has passed. */
  public void advance(Duration duration) {
    long end = nanos + duration.toNanos();
    for (SimulatedLoop loop = next(); loop != null && loop.tasks.peek().atNanos <= end; loop = next()) {
      run(loop);
    }
    nanos = end;
  }

  /** Runs what is due now, and what that makes due now. */
  public void settle() {
    advance(Duration.ZERO);
  }

  /**
   * Runs until a condition holds.
   *
   * @throws AssertionError if nothing is left to run before it holds, or if it does not hold within this much time
   */
  public void runUntil(BooleanSupplier condition, Duration limit) {
    long end = nanos + limit.toNanos();
    while (!condition.getAsBoolean()) {
      SimulatedLoop loop = next();
      if (loop == null) {
        throw new AssertionError("nothing is left to run, and the condition does not hold");
      }
      if (loop.tasks.peek().atNanos > end) {
        throw new AssertionError("the condition does not hold after " + limit);
      }
      run(loop);
    }
  }

  /** Lets the tasks of a loop wait, as if its process stood still. */
  public void stop(Loop loop) {
    ((SimulatedLoop) loop).stopped = true;
  }

  /** Runs the tasks of a loop again, those first that have become due meanwhile. */
  public void resume(Loop loop) {
    ((SimulatedLoop) loop).stopped = false;
  }

  /** Schedules a task of a loop; {@code delayNanos} at least 0. For networks and other parts of a simulation. */
  public Timer schedule(Loop loop, long delayNanos, Runnable task) {
    return ((SimulatedLoop) loop).schedule(delayNanos, task);
  }

  /** Returns the loop whose task is due next, or null if there is no task. */
  private SimulatedLoop next() {
    SimulatedLoop next = null;
    int equals = 1;
    for (SimulatedLoop loop : loops) {
      if (loop.stopped || loop.tasks.isEmpty()) {
        continue;
      }
      int order = next == null ? -1 : Long.compare(loop.tasks.peek().atNanos, next.tasks.peek().atNanos);
      if (order == 0 && random == null) {
        order = Long.compare(loop.tasks.peek().number, next.tasks.peek().number);
      } else if (order == 0 && random.nextInt(++equals) == 0) {
        next = loop;
      }
      if (order < 0) {
        next = loop;
        equals = 1;
      }
    }
    return next;
  }

  private void run(SimulatedLoop loop) {
    Task task = loop.tasks.poll();
    nanos = Math.max(nanos, task.atNanos);
    SimulatedLoop before = current;
    current = loop;
    try {
      task.run.run();
    } finally {
      current = before;
    }
  }

  /** One owner's loop. */
  private final class SimulatedLoop implements Loop {
    private final String name;
    private final PriorityQueue<Task> tasks = new PriorityQueue<>();
    private boolean stopped;

    private SimulatedLoop(String name) {
      this.name = name;
    }

    private Timer schedule(long delayNanos, Runnable task) {
      Task scheduled = new Task(nanos + Math.max(0, delayNanos), number++, task);
      tasks.add(scheduled);
      return () -> tasks.remove(scheduled);
    }

    @Override
    public Clock clock() {
      return VirtualTime.this;
    }

    @Override
    public boolean isCurrent() {
      return current == this;
    }

    @Override
    public void execute(Runnable task) {
      schedule(0, task);
    }

    @Override
    public void defer(Runnable task) {
      schedule(0, task);
    }

    @Override
    public Timer after(long millis, Runnable task) {
      return schedule(Math.max(1, millis) * NANOS_PER_MILLI, task);
    }

    @Override
    public Timer every(long millis, Runnable task) {
      if (millis < 1) {
        throw new IllegalArgumentException("a period of " + millis + " ms");
      }
      return new Periodic(this, millis, task);
    }

    @Override
    public String toString() {
      return name;
    }
  }

  /** A timer that schedules itself again before its task runs, so that the task may cancel it. */
  private final class Periodic implements Timer {
    private final SimulatedLoop loop;
    private final long millis;
    private final Runnable task;
    private Timer next;

    private Periodic(SimulatedLoop loop, long millis, Runnable task) {
      this.loop = loop;
      this.millis = millis;
      this.task = task;
      next = loop.after(millis, this::fire);
    }

    private void fire() {
      next = loop.after(millis, this::fire);
      task.run();
    }

    @Override
    public void cancel() {
      next.cancel();
    }
  }

  /** A task of a loop at its time. */
  private record Task(long atNanos, long number, Runnable run) implements Comparable<Task> {

    @Override
    public int compareTo(Task other) {
      int byTime = Long.compare(atNanos, other.atNanos);
      return byTime != 0 ? byTime : Long.compare(number, other.number);
    }
  }
}
