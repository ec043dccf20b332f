package io.regatta.node.testing;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/** Waiting of tests for what comes about by itself. Stateless, any thread but an event loop. */
public final class Conditions {

  /** Limit for what hangs; it measures nothing. */
  private static final int SECONDS = 60;
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private Conditions() {}

  /** Something that is asked again and again. */
  @FunctionalInterface
  public interface Condition {

    /** Returns true once it holds. */
    boolean holds() throws Exception;
  }

  /** Waits until a condition holds, for {@value #SECONDS} s at most. */
  public static void awaitTrue(Condition condition) throws Exception {
    awaitTrue(condition, () -> "the condition does not hold");
  }

  /**
   * The same with a message of what is there instead.
   *
   * @param seen is asked for it if the time is over
   */
  public static void awaitTrue(Condition condition, Supplier<String> seen) throws Exception {
    for (long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS); !condition.holds(); ) {
      if (System.nanoTime() > end) {
        throw new AssertionError("after " + SECONDS + " s: " + seen.get());
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }
}
