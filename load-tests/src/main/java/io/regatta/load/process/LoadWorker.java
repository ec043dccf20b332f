package io.regatta.load.process;

import com.sun.management.OperatingSystemMXBean;
import io.regatta.node.process.ServiceLogging;
import io.vertx.core.json.JsonObject;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * A process of a driver. Its argument describes its task. It answers each line of its standard input, a command, with
 * one line on standard output: {@code seconds}, {@code cpu} (seconds of this process) and the task's result. It ends
 * with its standard input, so it never outlives the coordinator.
 */
public final class LoadWorker {

  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  /** Makes the task that the argument describes. */
  public interface Tasks {
    Task start(JsonObject setup) throws Exception;
  }

  private LoadWorker() {}

  /** Runs until standard input ends; does not return. */
  public static void main(String[] args, Tasks tasks) {
    PrintStream answers = System.out;
    System.setOut(System.err);
    ServiceLogging.use();
    ServiceLogging.quiet(System.getenv());
    BlockingQueue<String> commands = new LinkedBlockingQueue<>();
    Thread reader = new Thread(() -> read(commands), "commands");
    reader.setDaemon(true);
    reader.start();
    try (Task task = tasks.start(new JsonObject(args[0]))) {
      answers.println(task.ready().encode());
      while (true) {
        answers.println(measured(task, new JsonObject(commands.take())).encode());
      }
    } catch (Throwable e) { // the coordinator reports it
      answers.println(new JsonObject().put("error", e.toString()).encode());
      e.printStackTrace();
      answers.flush();
      Runtime.getRuntime().halt(1);
    }
  }

  /** Runs a command and measures it; the command {@code cpu} returns the CPU seconds of this process so far. */
  static JsonObject measured(Task task, JsonObject command) throws Exception {
    if (command.getString("do").equals("cpu")) {
      return new JsonObject().put("cpu", cpuSeconds());
    }
    double cpu = cpuSeconds();
    long begin = System.nanoTime();
    JsonObject told = task.run(command);
    double seconds = (System.nanoTime() - begin) * 1e-9;
    return told.put("seconds", seconds).put("cpu", cpuSeconds() - cpu);
  }

  private static double cpuSeconds() {
    return SYSTEM.getProcessCpuTime() * 1e-9;
  }

  private static void read(BlockingQueue<String> commands) {
    try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        commands.add(line);
      }
    } catch (IOException e) {
      e.printStackTrace();
    }
    Runtime.getRuntime().halt(0);
  }
}
