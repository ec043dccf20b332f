package io.regatta.load.run;

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
   * Starts both; the client gets what the server told when it was ready.
   *
   * @param setup {@code driver}, {@code kind}, and what its tasks want
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

  /** Has the client do something. */
  public JsonObject ask(JsonObject command) {
    return client.ask(command);
  }

  /** Has the server tell something. */
  public JsonObject askServer(JsonObject command) {
    return server.ask(command);
  }

  /** Freezes the server's process until {@link #thawServer}. */
  public void freezeServer() throws IOException {
    server.freeze();
  }

  /** Lets the server go on. */
  public void thawServer() throws IOException {
    server.thaw();
  }

  /** Has the client do something until it has done it for so long. */
  public void warmUp(JsonObject command, double seconds) {
    double done = 0;
    while (done < seconds) {
      done += client.ask(command).getDouble("seconds");
    }
  }

  /**
   * Has the client do something, and measures both processes meanwhile.
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
