package io.regatta.load.process;

import io.regatta.core.error.RegattaException.PeerLost;
import io.vertx.core.json.JsonObject;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** One TCP stream of iperf3 over the loopback interface, if the program is in PATH. Called by one thread. */
public final class Iperf3 {
  private static final double GIGA = 1e9;
  private static final int IDLE_SECONDS = 30;

  private final String program;

  private Iperf3(String program) {
    this.program = program;
  }

  /** Returns the program; empty if it is not installed. */
  public static Optional<Iperf3> find() {
    return Programs.inPath("iperf3").map(Iperf3::new);
  }

  /**
   * Sends for this number of seconds. Its server takes one client and ends; it also ends if none comes.
   *
   * @param reverse the server sends
   */
  public Sample run(int seconds, boolean reverse) throws IOException {
    String port = Integer.toString(freePort());
    Process server = start("-s", "-1", "-p", port, "--forceflush", "--idle-timeout", Integer.toString(IDLE_SECONDS));
    Thread hook = new Thread(server::destroy);
    Runtime.getRuntime().addShutdownHook(hook);
    try (BufferedReader lines = server.inputReader(StandardCharsets.UTF_8)) {
      String line = lines.readLine();
      while (line != null && !line.contains("listening")) {
        line = lines.readLine();
      }
      List<String> command = new ArrayList<>(List.of("-c", "127.0.0.1", "-p", port, "-t", Integer.toString(seconds),
          "-J"));
      if (reverse) {
        command.add("-R");
      }
      Process client = start(command.toArray(String[]::new));
      String told = new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return sample(new JsonObject(told));
    } finally {
      end(server);
      Runtime.getRuntime().removeShutdownHook(hook);
    }
  }

  private Process start(String... arguments) throws IOException {
    String[] command = new String[arguments.length + 1];
    command[0] = program;
    System.arraycopy(arguments, 0, command, 1, arguments.length);
    return new ProcessBuilder(command).redirectErrorStream(true).start();
  }

  private static Sample sample(JsonObject told) {
    JsonObject end = told.getJsonObject("end");
    if (end == null || !end.containsKey("sum_received")) {
      throw new PeerLost("iperf3 failed: " + told.getString("error"));
    }
    double seconds = end.getJsonObject("sum_received").getDouble("seconds");
    JsonObject cpu = end.getJsonObject("cpu_utilization_percent");
    return new Sample(end.getJsonObject("sum_received").getLong("bytes") / GIGA, seconds,
        cpu.getDouble("host_total") / 100 * seconds, cpu.getDouble("remote_total") / 100 * seconds);
  }

  /**
   * Returns a free port. Another process may take it before iperf3 does, which then reports it; iperf3 cannot choose
   * one itself.
   */
  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private static void end(Process server) {
    try {
      if (!server.waitFor(2, TimeUnit.SECONDS)) {
        server.destroyForcibly();
      }
    } catch (InterruptedException e) {
      server.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
