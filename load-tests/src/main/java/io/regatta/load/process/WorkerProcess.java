package io.regatta.load.process;

import io.regatta.core.error.RegattaException.PeerLost;
import io.vertx.core.json.JsonObject;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * The coordinator's handle of a {@link LoadWorker} in a JVM of its own, with the same options as the coordinator's.
 * Used by the coordinator's main thread. A command that is not answered in time fails, and so does one whose worker has
 * died.
 */
public final class WorkerProcess implements AutoCloseable {

  private static final long ANSWER_SECONDS = 180;
  private static final long END_SECONDS = 5;
  private static final String END = "";

  private final String name;
  private final Process process;
  private final PrintStream commands;
  private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
  private final Thread thaw = new Thread(this::thawAtExit);
  private final JsonObject ready;

  private WorkerProcess(String name, Process process) {
    this.name = name;
    this.process = process;
    commands = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
    Thread reader = new Thread(this::read, name + " answers");
    reader.setDaemon(true);
    reader.start();
    ready = answer("to be ready");
  }

  /** Starts a worker and waits until it is ready. */
  public static WorkerProcess start(String name, JsonObject setup) throws IOException {
    List<String> command = java();
    command.add("worker");
    command.add(setup.encode());
    Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    try {
      return new WorkerProcess(name, process);
    } catch (RuntimeException e) {
      process.destroyForcibly();
      throw e;
    }
  }

  /** Returns this JVM's command line up to the arguments; agents and the heap's limit are not passed on. */
  private static List<String> java() {
    List<String> command = new ArrayList<>();
    command.add(System.getProperty("java.home") + "/bin/java");
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(o -> !o.startsWith("-javaagent") && !o.startsWith("-agentlib") && !o.startsWith("-Xmx"))
        .forEach(command::add);
    String path = System.getProperty("java.class.path");
    if (path.endsWith(".jar") && !path.contains(File.pathSeparator)) {
      command.addAll(List.of("-jar", path)); // its manifest opens packages, as a service's does
    } else {
      command.addAll(List.of("-cp", path, "io.regatta.load.LoadTests"));
    }
    return command;
  }

  /** Returns the worker's answer when it was ready. */
  public JsonObject ready() {
    return ready;
  }

  /** Sends a command and waits for its answer. */
  public JsonObject ask(JsonObject command) {
    tell(command);
    return answer(command.encode());
  }

  /** Sends a command; {@link #answer} waits for its end, so that several workers can run at the same time. */
  public void tell(JsonObject command) {
    commands.println(command.encode());
  }

  /** Freezes the process (SIGSTOP), which answers nothing until it is thawed. */
  public void freeze() throws IOException {
    Runtime.getRuntime().addShutdownHook(thaw); // a frozen process would not notice that the coordinator has gone
    signal("STOP");
  }

  /** Lets a frozen process continue. */
  public void thaw() throws IOException {
    signal("CONT");
    Runtime.getRuntime().removeShutdownHook(thaw);
  }

  private void signal(String signal) throws IOException {
    try {
      int status = new ProcessBuilder("sh", "-c", "kill -" + signal + " " + process.pid()).inheritIO() // sh's own: kill may be missing
          .start().waitFor();
      if (status != 0) {
        throw new IOException("kill -" + signal + " of " + name + " ended with status " + status);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("kill -" + signal + " of " + name + " was interrupted", e);
    }
  }

  private void thawAtExit() {
    try {
      signal("CONT");
    } catch (IOException e) {
      process.destroyForcibly();
    }
  }

  /** Returns CPU seconds of the process so far. */
  public double cpuSeconds() {
    return ask(new JsonObject().put("do", "cpu")).getDouble("cpu");
  }

  /**
   * Waits for the answer to the command that was sent last.
   *
   * @param what it was asked, for messages
   */
  public JsonObject answer(String what) {
    String line;
    try {
      line = answers.poll(ANSWER_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      throw new PeerLost(name + " was asked " + what + ", and the wait was interrupted", e);
    }
    if (line == null) {
      throw new PeerLost(name + " was asked " + what + " and did not answer within " + ANSWER_SECONDS + " s");
    }
    if (line.equals(END)) {
      throw new PeerLost(name + " ended when asked " + what + "; see its lines on stderr");
    }
    JsonObject answer = new JsonObject(line);
    if (answer.containsKey("error")) {
      throw new PeerLost(name + " failed when asked " + what + ": " + answer.getString("error"));
    }
    return answer;
  }

  private void read() {
    try (BufferedReader in = process.inputReader(StandardCharsets.UTF_8)) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        answers.add(line);
      }
    } catch (IOException e) { // closed under us
      answers.add(END);
    }
    answers.add(END);
  }

  /** Ends the process: by the end of its input, or else by force. */
  @Override
  public void close() {
    commands.close();
    try {
      if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor(END_SECONDS, TimeUnit.SECONDS); // so that it has gone, too
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
