package io.regatta.load.turns;

import io.regatta.load.process.Table;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.function.Supplier;

/** A timer of one operation's time slices, by the clock and in CPU time. For one thread. */
final class TurnTimes {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final double NANOS_PER_MILLI = 1e6;

  private long[] nanos;
  private long[] cpuNanos;
  private int turns;

  TurnTimes(int expected) {
    nanos = new long[Math.max(1, expected)];
    cpuNanos = new long[nanos.length];
  }

  void time(Runnable turn) {
    time(() -> {
      turn.run();
      return null;
    });
  }

  <T> T time(Supplier<T> turn) {
    if (turns == nanos.length) {
      nanos = Arrays.copyOf(nanos, 2 * turns);
      cpuNanos = Arrays.copyOf(cpuNanos, 2 * turns);
    }
    long cpuBefore = THREADS.getCurrentThreadCpuTime();
    long begin = System.nanoTime();
    T result = turn.get();
    nanos[turns] = System.nanoTime() - begin;
    cpuNanos[turns++] = THREADS.getCurrentThreadCpuTime() - cpuBefore;
    return result;
  }

  /** Returns the CPU time of the longest time slice. */
  double worstCpuMillis() {
    return Arrays.stream(cpuNanos, 0, turns).max().orElseThrow() / NANOS_PER_MILLI;
  }

  void print(Table table, String operation, long rows) {
    double[] wall = summary(nanos);
    double[] cpu = summary(cpuNanos);
    table.row(operation, turns, (double) rows / turns, wall[0], wall[1], wall[2], cpu[0], cpu[1], cpu[2]);
  }

  /** Returns mean, 99.9th percentile and worst, in milliseconds. */
  private double[] summary(long[] taken) {
    long[] sorted = Arrays.copyOf(taken, turns);
    Arrays.sort(sorted);
    return new double[] {Arrays.stream(sorted).average().orElseThrow() / NANOS_PER_MILLI,
        sorted[(int) (0.999 * turns)] / NANOS_PER_MILLI, sorted[turns - 1] / NANOS_PER_MILLI};
  }
}
