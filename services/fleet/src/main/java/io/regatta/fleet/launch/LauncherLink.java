package io.regatta.fleet.launch;

import java.util.Map;

/**
 * A launched process's tie to its launcher: one that is killed, and so cannot end what it has started, takes it along all the
 * same. Stateless.
 */
public final class LauncherLink {

  /** Variable with the launcher's process id. */
  public static final String VARIABLE = "REGATTA_LAUNCHER";

  private static final int STATUS = 143;

  private LauncherLink() {}

  /** Ends this JVM in order when the launcher that the environment names has gone. */
  public static void follow(Map<String, String> environment) {
    String launcher = environment.get(VARIABLE);
    if (launcher == null || !launcher.matches("\\d{1,18}")) {
      return;
    }
    ProcessHandle.of(Long.parseLong(launcher)).ifPresentOrElse(handle -> handle.onExit().thenRun(LauncherLink::end),
        LauncherLink::end);
  }

  private static void end() {
    System.err.println("regatta: the launcher has gone, so this process ends, too");
    new Thread(() -> System.exit(STATUS), "regatta-launcher-gone").start();
  }
}
