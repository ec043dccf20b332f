package io.regatta.fleet.launch;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A launched process's tie to its launcher: one that is killed, and so cannot end what it has started, takes it along all the
 * same. Stateless.
 */
public final class LauncherLink {

  /** Variable with the launcher's process id. */
  public static final String VARIABLE = "REGATTA_LAUNCHER";

  private static final int STATUS = 143;
  /** After which hooks that hang are not waited for: nobody is left to kill this process. */
  private static final long HALT_MILLIS = 10_000;
  private static final AtomicBoolean FOLLOWS = new AtomicBoolean();

  private LauncherLink() {}

  /** Ends this JVM in order when the launcher that the environment names has gone. Repeating it changes nothing. */
  public static void follow(Map<String, String> environment) {
    String launcher = environment.get(VARIABLE);
    if (launcher == null || FOLLOWS.getAndSet(true) || !launcher.matches("\\d{1,18}")) {
      return;
    }
    ProcessHandle.of(Long.parseLong(launcher)).ifPresentOrElse(handle -> handle.onExit().thenRun(LauncherLink::end),
        LauncherLink::end);
  }

  private static void end() {
    System.err.println("regatta: the launcher has gone, so this process ends, too");
    new Thread(() -> System.exit(STATUS), "regatta-launcher-gone").start();
    CompletableFuture.delayedExecutor(HALT_MILLIS, TimeUnit.MILLISECONDS).execute(() -> Runtime.getRuntime().halt(STATUS));
  }
}
