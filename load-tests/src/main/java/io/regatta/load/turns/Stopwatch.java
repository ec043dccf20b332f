package io.regatta.load.turns;

import io.regatta.load.run.Table;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.function.Supplier;

/** Times the turns of one operation, by the clock and in CPU time. For one thread. */
final class Stopwatch {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final double NANOS_PER_MILLI = 1e6;

  private long[] nanos;
  private int turns;
  private long cpu;
  private long worstCpu;

  Stopwatch(int expected) {
    nanos = new long[Math.max(1, expected)];
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
    }
    long cpuBefore = THREADS.getCurrentThreadCpuTime();
    long begin = System.nanoTime();
    T result = turn.get();
    nanos[turns++] = System.nanoTime() - begin;
    long taken = THREADS.getCurrentThreadCpuTime() - cpuBefore;
    cpu += taken;
    worstCpu = Math.max(worstCpu, taken);
    return result;
  }

  void print(Table table, String operation, long rows) {
    long[] sorted = Arrays.copyOf(nanos, turns);
    Arrays.sort(sorted);
    table.row(operation, turns, (double) rows / turns, Arrays.stream(sorted).average().orElseThrow() / NANOS_PER_MILLI,
        sorted[(int) (0.999 * turns)] / NANOS_PER_MILLI, sorted[turns - 1] / NANOS_PER_MILLI,
        cpu / NANOS_PER_MILLI / turns, worstCpu / NANOS_PER_MILLI);
  }
}
