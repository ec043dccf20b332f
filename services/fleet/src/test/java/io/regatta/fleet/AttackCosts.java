package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.AppenderBase;
import io.netty.util.internal.PlatformDependent;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import org.slf4j.LoggerFactory;

/**
 * Measures what attacks cost the process of a job, and prints a row of a table for each. The row holds the job's own
 * calls meanwhile, which must succeed, memory that stays, and bytes of the log. Owned by the test's thread.
 */
final class AttackCosts implements AutoCloseable {

  /** Budget of log for a flood or slow clients; 25 kB of empty messages once made 6 MB of it. */
  static final int LOG_BYTES = 64 << 10;
  static final int MUTATED_LOG_BYTES = 1 << 20;
  static final int MEMORY_BYTES = 20 << 20;
  private static final int LOOP_BYTES = 32 << 20;
  /** Timers hold TLS connections for some seconds after their end. */
  private static final long SETTLE_NANOS = TimeUnit.SECONDS.toNanos(20);

  private final String title;
  private final LegitimateCalls calls;
  private final LogBytes log = new LogBytes();

  /** @param title begins each row's name; empty: nothing does */
  AttackCosts(AttackedJob job, String title) {
    this.title = title;
    calls = new LegitimateCalls(job);
    log.start();
    log.root.addAppender(log);
  }

  /** An attack; returns how many connections or frames it had. */
  @FunctionalInterface
  interface Attack {
    int run() throws Exception;
  }

  /**
   * Returns the budget of memory of what comes first: each event loop takes some chunks from the system for its pool of
   * buffers, and keeps them.
   */
  static long poolsBytes() {
    return MEMORY_BYTES + 2L * Runtime.getRuntime().availableProcessors() * LOOP_BYTES;
  }

  /** Runs an attack, and checks that it stays within its budgets. */
  void measure(String name, long memoryBytes, long logBytes, Attack attack) throws Exception {
    Memory before = Memory.now();
    long logged = log.bytes();
    long made = calls.count();
    calls.slowestMillis();
    long begin = System.nanoTime();
    int units = attack.run();
    calls.awaitMoreThan(made, SETTLE_NANOS); // an attack may be refused before one call ends
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
    long succeeded = calls.count() - made;
    long slowest = calls.slowestMillis();
    long written = log.bytes() - logged;
    Memory after = Memory.now();
    for (long end = System.nanoTime() + SETTLE_NANOS; after.since(before) >= memoryBytes && System.nanoTime() < end;) {
      after = Memory.now();
    }
    System.out.printf("| %s%s | %d | %.1f | %d | %d | %d | %d | %d |%n", title, name, units, millis / 1e3, succeeded,
        slowest, after.heap - before.heap >> 10, after.direct - before.direct >> 10, written);
    assertThat(succeeded).as("calls during: %s", name).isPositive();
    assertThat(after.since(before)).as("memory after: %s", name).isLessThan(memoryBytes);
    assertThat(written).as("log of: %s", name).isLessThan(logBytes);
  }

  /** Returns what has been logged. */
  String log() {
    return log.text.toString();
  }

  @Override
  public void close() {
    log.root.detachAppender(log);
    calls.close();
  }

  /** Live objects, and direct buffers with the chunks of Netty's pools. */
  private record Memory(long heap, long direct) {

    static Memory now() {
      System.gc(); // ends buffers and references,
      System.gc(); // and what they held
      long direct = Math.max(0, PlatformDependent.usedDirectMemory());
      for (BufferPoolMXBean pool : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)) {
        direct += pool.getMemoryUsed();
      }
      return new Memory(ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed(), direct);
    }

    long since(Memory earlier) {
      return heap - earlier.heap + direct - earlier.direct;
    }
  }

  private static final class LogBytes extends AppenderBase<ILoggingEvent> {
    private static final int HEAD_BYTES = 40;
    private final Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    private final StringBuffer text = new StringBuffer();

    @Override
    protected void append(ILoggingEvent event) {
      text.append(" ".repeat(HEAD_BYTES)).append(event.getFormattedMessage()).append('\n');
      if (event.getThrowableProxy() != null) {
        text.append(ThrowableProxyUtil.asString(event.getThrowableProxy()));
      }
    }

    long bytes() {
      return text.length();
    }
  }
}
