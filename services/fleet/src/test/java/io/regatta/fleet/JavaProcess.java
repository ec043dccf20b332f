package io.regatta.fleet;

import io.regatta.fleet.command.Regatta;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;

/** A process of its own under test, with all it printed. It ends with the test at the latest. */
final class JavaProcess implements AutoCloseable {

  /**
   * Limit of a step of a process. It is there for one that hangs and measures nothing: a crowded machine needs minutes.
   */
  static final int SECONDS = 300;

  private record Awaited(Predicate<String> line, CompletableFuture<String> found) {}

  private final String name;
  private final Process process;
  private final List<String> lines = new CopyOnWriteArrayList<>();
  private final List<Awaited> awaited = new CopyOnWriteArrayList<>();
  private final Thread reader;

  private JavaProcess(String name, Process process) {
    this.name = name;
    this.process = process;
    reader = new Thread(this::read, "output-of-" + name);
    reader.setDaemon(true);
    reader.start();
  }

  /** {@code java -jar} as a user would call it, in the checkout's directory; signals have their default effect. */
  static JavaProcess jar(String name, Path jar, String... args) {
    return inCheckout(name, java("-Xmx512m", "-jar", jar.toString()), args);
  }

  /** A main class of this class path, otherwise like {@link #jar}. */
  static JavaProcess main(String name, Class<?> main, String... args) {
    return inCheckout(name, archivedCommand(main, "-Xmx512m"), args);
  }

  private static JavaProcess inCheckout(String name, List<String> java, String... args) {
    return start(name, Checkout.root(), withDefaultSignals(Map.of(), java, args));
  }

  /** The command with these variables and arguments, and with the signals as a shell in the foreground leaves them. */
  private static List<String> withDefaultSignals(Map<String, String> variables, List<String> java, String... args) {
    List<String> command = new ArrayList<>(List.of("env", "--default-signal=INT,TERM"));
    variables.forEach((name, value) -> command.add(name + "=" + value));
    command.addAll(java);
    command.addAll(List.of(args));
    return command;
  }

  /**
   * The command that runs this JVM's Java. Such processes end too soon for the second compiler, for the first one's
   * low thresholds and for threads of a garbage collector to earn what they cost.
   */
  static List<String> java(String... args) {
    List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-XX:TieredStopAtLevel=1", "-XX:CompileThresholdScaling=4", "-XX:+UseSerialGC"));
    command.addAll(List.of(args));
    return command;
  }

  /** The command line of Regatta from this class path, with the archive of its classes. */
  static List<String> regattaCommand(String... options) {
    return archivedCommand(Regatta.class, options);
  }

  private static List<String> archivedCommand(Class<?> main, String... options) {
    List<String> command = java(options);
    command.addAll(ClassArchive.options());
    command.addAll(List.of("-cp", ClassArchive.classPath(), main.getName()));
    return command;
  }

  /**
   * Regatta's command line from this class path, without the JVM options that the script and the jars give; signals have their
   * default effect.
   *
   * @param directory where it runs, and its temporary directory
   * @param variables beside those of this process
   */
  static JavaProcess regatta(Path directory, Map<String, String> variables, String... args) {
    List<String> command = withDefaultSignals(variables,
        regattaCommand("-Xmx256m", "-Djava.io.tmpdir=" + directory), args);
    return start((variables.isEmpty() ? "" : variables + " ") + String.join(" ", args), directory, command);
  }

  static JavaProcess start(String name, Path directory, List<String> command) {
    try {
      ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true);
      builder.environment().keySet().removeIf(variable -> variable.startsWith("MAVEN_"));
      Process process = builder.start();
      process.getOutputStream().close();
      return new JavaProcess(name, process);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void read() {
    try (BufferedReader output = new BufferedReader(new InputStreamReader(process.getInputStream()))) {
      for (String line = output.readLine(); line != null; line = output.readLine()) {
        lines.add(line);
        for (Awaited a : awaited) {
          if (a.line.test(line)) {
            a.found.complete(line);
          }
        }
      }
    } catch (IOException closed) {
      lines.add("(" + closed.getMessage() + ")");
    }
  }

  long pid() {
    return process.pid();
  }

  String output() {
    return String.join("\n", lines);
  }

  /**
   * Returns the lines that name an exception, without those of Vert.x's watchdog. On a machine that stalls it reports
   * that an event loop's thread did not run, which is no fault of the process.
   */
  List<String> exceptions() {
    return lines.stream().filter(line -> line.contains("Exception"))
        .filter(line -> !line.contains("VertxException: Thread blocked")).toList();
  }

  /** Waits for a line; fails with all output if the process ends or the time is over first. */
  String await(Predicate<String> line, int seconds) throws Exception {
    Awaited wanted = new Awaited(line, new CompletableFuture<>());
    awaited.add(wanted);
    lines.stream().filter(line).findFirst().ifPresent(wanted.found::complete);
    Thread end = new Thread(() -> { // onExit tells in the common pool, which may have one thread
      try {
        process.waitFor();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      joinReader();
      wanted.found.completeExceptionally(new AssertionError(name + " ended without the line:\n" + output()));
    }, "end of " + name);
    end.setDaemon(true);
    end.start();
    try {
      return wanted.found.get(seconds, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw new AssertionError(name + " did not print the line within " + seconds + " s:\n" + output());
    }
  }

  /** Waits for its end and gives its exit status; fails with all output after the time. */
  int status(int seconds) throws InterruptedException {
    if (!process.waitFor(seconds, TimeUnit.SECONDS)) {
      throw new AssertionError(name + " still runs after " + seconds + " s:\n" + output());
    }
    joinReader();
    return process.exitValue();
  }

  private void joinReader() {
    try {
      reader.join(TimeUnit.SECONDS.toMillis(5));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** {@code INT} is Ctrl-C. */
  void signal(String signal) throws Exception {
    int status = new ProcessBuilder("sh", "-c", "kill -" + signal + " " + pid()).inheritIO().start().waitFor(); // sh's own: kill may be missing
    if (status != 0) {
      throw new AssertionError("kill -" + signal + " " + pid() + " of " + name + " ended with " + status);
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
