package io.regatta.load.process;

import io.vertx.core.json.JsonObject;

/**
 * The work of a {@link LoadWorker}, done on command: a server or a client of one kind. Called by the worker's main
 * thread only.
 */
public interface Task extends AutoCloseable {

  /** Returns the facts that the other processes need, e.g. its ports; called once, when it is ready. */
  default JsonObject ready() {
    return new JsonObject();
  }

  /**
   * Carries out a command and waits for its end. A server that only serves gets no commands.
   *
   * @param command {@code do}: what; {@code times}: how often; others as the task requires
   * @return results beside time and CPU time, which the worker measures
   */
  default JsonObject run(JsonObject command) throws Exception {
    throw new IllegalArgumentException("a server only serves: " + command);
  }

  @Override
  void close() throws Exception;
}
