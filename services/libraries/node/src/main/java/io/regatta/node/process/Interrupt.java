package io.regatta.node.process;

import io.vertx.core.Future;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * The reaction to Ctrl-C and SIGTERM while a command or service runs: an ordered close, and one line that reports it.
 * The close may take four seconds (longer while a model is being saved, see {@link #awaits}). Then the JVM ends with
 * its usual status (130, 143). If the close was abandoned, the status is 1, so that the end is not taken for an orderly
 * one. A model thread inside a native call is not waited for. Owned by the main thread.
 */
public final class Interrupt implements AutoCloseable {

  /** Limit of a close. */
  public static final Duration LIMIT = Duration.ofSeconds(4);

  /** Status of a process that did not end in order. */
  private static final int GIVEN_UP = 1;

  /** Limit for work that does not end within its own bound. */
  private static final Duration WORK_LIMIT = Duration.ofMinutes(10);
  private static final Queue<Future<String>> HOLDING = new ConcurrentLinkedQueue<>();

  private static volatile boolean underway;

  private final Thread hook;

  private Interrupt(Supplier<Future<Void>> close) {
    hook = new Thread(() -> {
      underway = true;
      if (settles(close.get())) {
        System.err.println("regatta: stopped, everything was closed in order" + heldUp());
        return;
      }
      System.err.println("regatta: stopped, but not everything ended within " + LIMIT.toSeconds() + " s; the process ends now, with status "
          + GIVEN_UP + heldUp());
      System.err.flush();
      Runtime.getRuntime().halt(GIVEN_UP); // the JVM's own end would have the signal's status
    }, "regatta-interrupt");
  }

  /**
   * Lets a close that a signal has requested take longer for work that must not be cut off.
   *
   * @param work ends by itself in bounded time; its result is added to the line that reports how the process has ended,
   *     unless it is empty
   */
  public static void awaits(Future<String> work) {
    if (underway) {
      HOLDING.add(work);
    }
  }

  /** Waits for a close within its limit. Returns false if it has been abandoned. */
  public static boolean settles(Future<?> closing) {
    if (Blocking.settles(closing, LIMIT)) {
      return true;
    }
    if (HOLDING.isEmpty()) {
      return false;
    }
    HOLDING.forEach(work -> Blocking.settles(work, WORK_LIMIT));
    return Blocking.settles(closing, LIMIT);
  }

  private static String heldUp() {
    return HOLDING.stream().filter(work -> work.succeeded() && !work.result().isEmpty()).map(work -> "; " + work.result()).distinct()
        .collect(Collectors.joining());
  }

  /**
   * Returns true if this process is being stopped by a signal: later failures follow from that, and need no message of
   * their own.
   */
  public static boolean underway() {
    return underway;
  }

  /**
   * Registers an ordered close.
   *
   * @param close begins the close when the signal comes; its future completes when everything has ended
   */
  public static Interrupt closes(Supplier<Future<Void>> close) {
    Interrupt interrupt = new Interrupt(close);
    Runtime.getRuntime().addShutdownHook(interrupt.hook);
    return interrupt;
  }

  /** Ends the registration at an ordinary end: nothing is left to close. */
  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException shuttingDown) {
      // The signal came first: the hook is closing, and the JVM ends with the signal's status whatever we return.
    }
  }
}
