package io.regatta.fleet.launch;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.fleet.launch.plan.LaunchPlan;
import io.regatta.node.process.Proxies;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A process of the job that has been started, and its log. Owned by the launcher's thread; the log may have a thread of its own. */
final class Launched {

  private static final long KILL_SECONDS = 2;
  /** Status of a process that SIGTERM has ended. */
  private static final int TERMINATED = 143;

  private final LaunchPlan.Planned planned;
  private final Path log;
  private final Process process;
  private final boolean endsWithInput;
  private final Thread echo;

  private Launched(LaunchPlan.Planned planned, Path log, Process process, boolean endsWithInput, Thread echo) {
    this.planned = planned;
    this.endsWithInput = endsWithInput;
    this.log = log;
    this.process = process;
    this.echo = echo;
  }

  /**
   * Prefix of a command that ignores Ctrl-C. A terminal sends it to all processes; the launcher ends them itself, in
   * its order.
   */
  private static final List<String> WITHOUT_CTRL_C = List.of("sh", "-c", "trap '' INT; exec \"$@\"", "sh");

  /**
   * Starts it. Its output goes into its log, and also to {@code echo} unless that is null.
   *
   * @param logs an existing directory
   * @param again whether its log is continued; else it begins anew
   */
  static Launched start(LaunchPlan.Planned planned, Call call, Path logs, OutputStream echo, boolean again) {
    Path log = logs.resolve(planned.role().log() + "." + planned.local());
    List<String> shielded = Stream.concat(WITHOUT_CTRL_C.stream(), call.command().stream()).toList();
    ProcessBuilder builder = new ProcessBuilder(shielded).redirectErrorStream(true);
    if (!call.endsWithInput()) {
      builder.redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()));
    }
    Map<String, String> environment = environment(builder.environment(), call.environment());
    builder.environment().clear();
    builder.environment().putAll(environment);
    builder.environment().put(LauncherLink.VARIABLE, Long.toString(ProcessHandle.current().pid()));
    try {
      OutputStream file = again ? Files.newOutputStream(log, StandardOpenOption.CREATE, StandardOpenOption.APPEND)
          : Files.newOutputStream(log); // before it starts: a started process must not be forgotten
      if (echo == null) {
        file.close();
        builder.redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
      }
      Process process = builder.start();
      return new Launched(planned, log, process, call.endsWithInput(),
          echo == null ? null : echo(process.getInputStream(), file, echo, planned));
    } catch (IOException e) {
      throw new InvalidInput(planned.name() + " cannot be started with its log in " + log + ": " + e.getMessage());
    }
  }

  /**
   * Returns the environment of a process of the job.
   *
   * @param inherited the launcher's
   * @param own variables of that process
   */
  static Map<String, String> environment(Map<String, String> inherited, Map<String, String> own) {
    Map<String, String> environment = new HashMap<>(inherited);
    environment.keySet().removeIf(Launched::isNotForChildren);
    environment.putAll(own);
    return environment;
  }

  /** Returns true for variables of proxies, which no data uses, and of parts in other jobs. */
  private static boolean isNotForChildren(String variable) {
    return Proxies.isOne(variable) || variable.startsWith("PADDLE_") || variable.equals("TRAINING_ROLE") || variable.equals("POD_IP");
  }

  private static Thread echo(InputStream output, OutputStream file, OutputStream echo, LaunchPlan.Planned planned) {
    Thread thread = new Thread(() -> {
      byte[] bytes = new byte[8192];
      try (output; file) {
        for (int n = output.read(bytes); n >= 0; n = output.read(bytes)) {
          file.write(bytes, 0, n);
          echo.write(bytes, 0, n);
          echo.flush();
        }
      } catch (IOException ended) {
        // The process has ended, or nobody reads what is echoed: its log has what could be written.
      }
    }, "regatta-echo-of-" + planned.name().replace(' ', '-'));
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  LaunchPlan.Planned planned() {
    return planned;
  }

  String name() {
    return planned.name();
  }

  Path log() {
    return log;
  }

  Process process() {
    return process;
  }

  /**
   * Runs this when it has ended, on a thread of its own. {@link Process#onExit} would run it in the common pool, which
   * on two cores may have one thread (as from Java 25 on), and another task may block that.
   */
  void onEnd(Runnable told) {
    Thread thread = new Thread(() -> {
      try {
        process.waitFor();
        told.run();
      } catch (InterruptedException e) { // nobody else knows this thread
        Thread.currentThread().interrupt();
      }
    }, "regatta-end-of-" + name().replace(' ', '-'));
    thread.setDaemon(true);
    thread.start();
  }

  /** Asks it to end in order, and does not wait. */
  void signal() {
    process.destroy();
  }

  /** Asks it to end in order. */
  void terminate() {
    if (!endsWithInput) {
      signal();
      return;
    }
    try {
      process.getOutputStream().close();
    } catch (IOException e) {
      process.destroy();
    }
  }

  /** Ends it at once, and waits until it has gone. */
  void kill() {
    try {
      process.destroyForcibly().waitFor(KILL_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Returns true if it has ended as a process does that is asked to end. */
  boolean hasEndedInOrder() {
    return !process.isAlive() && (process.exitValue() == 0 || process.exitValue() == TERMINATED);
  }

  /** Returns a description of its end. */
  String ending() {
    if (process.isAlive()) {
      return "cannot be ended";
    }
    int status = process.exitValue();
    return status > 128 && status < 160 ? "was ended by signal " + (status - 128) : "exited with status " + status;
  }

  /** Waits until all output of an ended process is in its log, for a second at most. */
  void awaitLog() {
    if (echo != null) {
      try {
        echo.join(TimeUnit.SECONDS.toMillis(1));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
