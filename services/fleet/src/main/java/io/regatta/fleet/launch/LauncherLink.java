package io.regatta.fleet.launch;

import io.regatta.node.process.Blocking;
import io.regatta.protocol.vertx.SystemClock;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/**
 * The link of a launched process to its launcher: if the launcher is killed, and so cannot end its processes, this one
 * ends itself. Any thread.
 */
public final class LauncherLink {

  /** Variable with the launcher's process id, or {@link #REMOTE}. A server that has it does not end with its job. */
  public static final String VARIABLE = "REGATTA_LAUNCHER";
  /** Value of the variable if the launcher is on another machine. The script that starts the process there follows it. */
  public static final String REMOTE = "remote";

  private static final int STATUS = 143;
  /** Time after which hooks that hang are not waited for: no launcher is left to kill this process. */
  private static final long HALT_MILLIS = 30_000;
  /** Time for work that must be finished first. */
  private static final long SERVE_MILLIS = 25_000;
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(300);
  private static final AtomicBoolean FOLLOWS = new AtomicBoolean();
  /** Work of all services of this process that must be finished first. If there is none, it ends at once. */
  private static final Set<Work> FIRST = ConcurrentHashMap.newKeySet();

  /** The end of one service's work. Compared by identity: two services may have equal ones. */
  private static final class Work {
    private final Supplier<Future<Void>> end;

    Work(Supplier<Future<Void>> end) {
      this.end = end;
    }
  }

  private LauncherLink() {}

  /** Ends this JVM in order when the launcher that the environment names has gone. Repeating it changes nothing. */
  public static void follow(Map<String, String> environment) {
    String launcher = environment.get(VARIABLE);
    if (launcher == null || FOLLOWS.getAndSet(true) || !launcher.matches("\\d{1,18}")) {
      return;
    }
    Optional<ProcessHandle> handle = ProcessHandle.of(Long.parseLong(launcher));
    Thread thread = new Thread(() -> {
      while (handle.isPresent() && handle.get().isAlive()) { // onExit tells in a pool that others may hold up
        SystemClock.get().pause(LOOK_NANOS);
      }
      end();
    }, "regatta-launcher-link");
    thread.setDaemon(true);
    thread.start();
  }

  /**
   * Lets this process first finish what other processes of the job need of it to end in order, for 25 s at most.
   *
   * @param work asked for when the launcher has gone
   * @return to be run when there is nothing to finish any more, because the service was closed
   */
  public static Runnable finishesFirst(Supplier<Future<Void>> work) {
    Work mine = new Work(work);
    FIRST.add(mine);
    return () -> FIRST.remove(mine);
  }

  /**
   * Returns a future that completes when all work that must be finished first is; a service that has ended already has
   * nothing to finish.
   */
  static Future<?> finished() {
    return Future.join(FIRST.stream().map(work -> Future.succeededFuture().compose(v -> work.end.get())
        .onFailure(e -> System.err.println("regatta: does not wait for the other processes of the job: " + e)))
        .toList());
  }

  /** Ends this JVM, on a thread that is used for nothing else. */
  private static void end() {
    System.err.println("regatta: the launcher has gone, so this process ends, too");
    Blocking.settles(finished(), Duration.ofMillis(SERVE_MILLIS));
    Thread exit = new Thread(() -> System.exit(STATUS), "regatta-launcher-gone");
    exit.start();
    try {
      exit.join(HALT_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    Runtime.getRuntime().halt(STATUS);
  }
}
