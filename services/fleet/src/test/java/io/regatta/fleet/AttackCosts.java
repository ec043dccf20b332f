package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.internal.PlatformDependent;
import io.regatta.node.testing.Conditions;
import io.regatta.node.testing.LogLines;
import io.regatta.protocol.connection.PeerLogClock;
import io.regatta.protocol.testing.HostileClient;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Meter of what attacks cost the process of a job; prints a row of a table for each. The row holds the job's own calls
 * meanwhile, which must succeed, its steps, and the slowest of each. It also holds the heap while all connections are
 * open, the memory that stays, and the bytes of the log. Each attack finds the limits of log lines as a process does
 * that has logged nothing yet. The lines about what they have left out count as well. Owned by the test's thread.
 */
final class AttackCosts implements AutoCloseable {

  /** Budget of log for a flood or slow clients; 25 kB of empty messages once made 6 MB of it. */
  static final int LOG_BYTES = 32 << 10;
  static final int MUTATED_LOG_BYTES = 1 << 20;
  /** Budget of growth: live objects, and buffers that are in use. */
  static final int MEMORY_BYTES = 20 << 20;
  /** Timers hold TLS connections for some seconds after their end. */
  private static final long SETTLE_NANOS = TimeUnit.SECONDS.toNanos(20);
  private static final long SHORT_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final AttackedJob job;
  private final String title;
  private final Connector connector;
  private final LegitimateCalls calls;
  private final LogLines log = LogLines.ofProcess();
  /** Largest heap that was noted during the attack, bytes. */
  private long peak;

  /**
   * @param title begins each row's name; empty: nothing does
   * @param connector of the connections that cause the last lines
   */
  AttackCosts(AttackedJob job, String title, Connector connector) {
    this.job = job;
    this.title = title;
    this.connector = connector;
    calls = new LegitimateCalls(job);
  }

  /** An attack; returns how many connections or frames it had. */
  @FunctionalInterface
  interface Attack {
    int run() throws Exception;
  }

  /**
   * Runs an attack, and checks that it stays within its budgets.
   *
   * @return the lines that it has caused
   */
  List<String> measure(String name, long logBytes, Attack attack) throws Exception {
    PeerLogClock.pass();
    Memory before = Memory.now();
    peak = before.heap;
    long logged = log.bytes();
    int lines = log.lines().size();
    long made = calls.count();
    calls.slowestMillis();
    boolean training = job.isTraining();
    long steps = job.training().made();
    job.training().slowestMillis();
    long begin = System.nanoTime();
    int units = attack.run();
    if (training && System.nanoTime() - begin < SHORT_NANOS) {
      job.training().await(steps + 1, TimeUnit.NANOSECONDS.toMillis(SETTLE_NANOS)); // it may be over before one step ends
    }
    steps = job.training().made() - steps;
    long slowestStep = job.training().slowestMillis();
    calls.awaitMoreThan(made, SETTLE_NANOS); // an attack may be refused before one call ends
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
    long succeeded = calls.count() - made;
    long slowest = calls.slowestMillis();
    reportOmissions();
    long written = log.bytes() - logged;
    Memory after = Memory.now();
    for (long end = System.nanoTime() + SETTLE_NANOS; after.since(before) >= MEMORY_BYTES && System.nanoTime() < end;) {
      after = Memory.now();
    }
    String progress = training ? steps + " | " + slowestStep : " | ";
    System.out.printf("| %s%s | %d | %.1f | %d | %d | %s | %d | %d | %d | %d |%n", title, name, units, millis / 1e3,
        succeeded, slowest, progress, Math.max(peak, after.heap) - before.heap >> 10, after.heap - before.heap >> 10,
        after.direct - before.direct >> 10, written);
    assertThat(succeeded).as("calls during: %s", name).isPositive();
    if (training) {
      assertThat(job.isTraining()).as("the job trains after: %s", name).isTrue();
      assertThat(steps).as("steps during: %s", name).isPositive();
    }
    assertThat(after.since(before)).as("memory after: %s", name).isLessThan(MEMORY_BYTES);
    assertThat(written).as("log of: %s", name).isLessThan(logBytes);
    return log.lines().subList(lines, log.lines().size());
  }

  /** Notes the live heap, that of the attacker's own ends included, for the attack that is under way. */
  void noteHeap() {
    peak = Math.max(peak, Memory.collected().heap);
  }

  /** Causes a line of each kind at each port when it is due again: it says how many an attack has left out. */
  private void reportOmissions() throws Exception {
    PeerLogClock.pass();
    int before = log.lines().size();
    List<HostileClient> clients = new ArrayList<>();
    try {
      for (int port : job.allPorts()) {
        for (byte[] bytes : Floods.stragglers()) {
          HostileClient client = connector.connect(port, bytes);
          clients.add(client);
          client.send(bytes);
        }
        HostileClient last = clients.get(clients.size() - 1);
        Conditions.awaitTrue(() -> last.endsWithin(1) || saysOfExcess(log.lines().subList(before, log.lines().size()),
            port), () -> "port " + port + " neither closes nor logs a connection that sends too much");
      }
    } finally {
      for (HostileClient client : clients) {
        client.close();
      }
    }
  }

  private static boolean saysOfExcess(List<String> lines, int port) {
    return lines.stream().anyMatch(line -> line.contains("to port " + port + " that has sent more than"));
  }

  @Override
  public void close() {
    log.close();
    calls.close();
  }

  /**
   * Memory of this process.
   *
   * @param heap objects that were alive after the last full collection
   * @param direct buffers outside of the heap, and what Netty's allocator keeps for the next ones
   */
  private record Memory(long heap, long direct) {
    private static final int COLLECTIONS = 4;

    /** Measures after whole collections, of which a serial collector squeezes all dead objects out in each fourth. */
    static Memory now() {
      return Stream.generate(Memory::collected).limit(COLLECTIONS).min(Comparator.comparing(Memory::heap))
          .orElseThrow();
    }

    private static Memory collected() {
      System.gc();
      long heap = 0;
      for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
        heap += pool.getType() == MemoryType.HEAP ? pool.getCollectionUsage().getUsed() : 0;
      }
      long direct = PlatformDependent.useDirectBufferNoCleaner() ? PlatformDependent.usedDirectMemory() : 0;
      for (BufferPoolMXBean pool : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)) {
        direct += pool.getMemoryUsed();
      }
      return new Memory(heap, direct);
    }

    long since(Memory earlier) {
      return heap - earlier.heap + direct - earlier.direct;
    }
  }
}
