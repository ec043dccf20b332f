package io.regatta.load.process;

import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.util.function.ToDoubleFunction;

/**
 * The processes of one kind of a driver: a server and a client, or one that is both. Used by the coordinator's main
 * thread.
 */
public final class WorkerPair implements AutoCloseable {
  private final WorkerProcess server;
  private final WorkerProcess client;

  private WorkerPair(WorkerProcess server, WorkerProcess client) {
    this.server = server;
    this.client = client;
  }

  /**
   * Starts both; the client gets the server's answer when it was ready.
   *
   * @param setup {@code driver}, {@code kind}, and the tasks' settings
   */
  public static WorkerPair start(JsonObject setup, boolean oneProcess) throws IOException {
    String name = setup.getString("driver") + " " + setup.getString("kind");
    if (oneProcess) {
      return new WorkerPair(null, WorkerProcess.start(name, setup.copy().put("role", "client")));
    }
    WorkerProcess server = WorkerProcess.start(name + " server", setup.copy().put("role", "server"));
    try {
      return new WorkerPair(server, WorkerProcess.start(name + " client",
          setup.copy().put("role", "client").mergeIn(server.ready())));
    } catch (IOException | RuntimeException e) {
      server.close();
      throw e;
    }
  }

  /** Sends the client a command, and returns its answer. */
  public JsonObject ask(JsonObject command) {
    return client.ask(command);
  }

  /** Sends the server a command, and returns its answer. */
  public JsonObject askServer(JsonObject command) {
    return server.ask(command);
  }

  /** Returns CPU seconds of the server's process so far. */
  public double serverCpuSeconds() {
    return server.cpuSeconds();
  }

  /** Freezes the server's process until {@link #thawServer}. */
  public void freezeServer() throws IOException {
    server.freeze();
  }

  /** Lets the server continue. */
  public void thawServer() throws IOException {
    server.thaw();
  }

  /** Repeats a command of fixed length at the client until it is {@link Steady}. */
  public void warmUp(JsonObject command, Scale scale) {
    Steady steady = new Steady(scale);
    while (!steady.after(client.ask(command).getDouble("seconds"), 1)) {
      // once more
    }
  }

  /**
   * Repeats a command at the client in blocks until it is {@link Steady}.
   *
   * @return how many {@code times} of it make a block
   */
  public int warmUpInBlocks(JsonObject command, Scale scale) {
    Steady steady = new Steady(scale);
    int times = 1;
    while (true) {
      double seconds = client.ask(command.copy().put("times", times)).getDouble("seconds");
      boolean warm = steady.after(seconds, times);
      times = scale.fits(seconds / times);
      if (warm) {
        return times;
      }
    }
  }

  /**
   * Sends the client a command, and measures both processes meanwhile.
   *
   * @param units how many units the answer stands for
   */
  public Sample measure(JsonObject command, ToDoubleFunction<JsonObject> units) {
    double before = server == null ? 0 : server.cpuSeconds();
    JsonObject answer = client.ask(command);
    double after = server == null ? 0 : server.cpuSeconds();
    return new Sample(units.applyAsDouble(answer), answer.getDouble("seconds"), answer.getDouble("cpu"),
        after - before);
  }

  @Override
  public void close() {
    client.close();
    if (server != null) {
      server.close();
    }
  }
}
