package io.regatta.node.testing;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/** Compares the threads of Regatta, Vert.x, Netty and Hazelcast before and after something that should leave none. */
public final class LeftoverThreads {

  private static final List<String> OURS = List.of("vert.x", "vertx", "hz.", "hazelcast", "regatta", "netty");

  private final Set<Thread> before = ours();

  private LeftoverThreads() {}

  /** Remembers the threads that run now. */
  public static LeftoverThreads snapshot() {
    return new LeftoverThreads();
  }

  /** Waits up to 20 s for the threads that have come since to end; fails naming those that stay. */
  public void assertNone() {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    Set<Thread> left = left();
    while (!left.isEmpty() && System.nanoTime() < deadline) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
      left = left();
    }
    if (!left.isEmpty()) {
      throw new AssertionError("threads left behind: "
          + left.stream().map(LeftoverThreads::described).sorted().collect(Collectors.joining("; ")));
    }
  }

  private static String described(Thread thread) {
    return thread.getName() + " " + thread.getState() + " at "
        + Arrays.stream(thread.getStackTrace()).limit(12).map(String::valueOf).collect(Collectors.joining(" < "));
  }

  private Set<Thread> left() {
    Set<Thread> now = ours();
    now.removeAll(before);
    return now;
  }

  private static Set<Thread> ours() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> OURS.stream().anyMatch(thread.getName().toLowerCase(java.util.Locale.ROOT)::contains))
        .collect(Collectors.toSet());
  }
}
