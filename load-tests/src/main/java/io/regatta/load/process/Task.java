package io.regatta.load.process;

import io.vertx.core.json.JsonObject;

/** What a {@link LoadWorker} does on command: a server or a client of one kind. Called by the worker's main thread only. */
public interface Task extends AutoCloseable {

  /** What the others must know of it, e.g. its ports; told once, when it is ready. */
  default JsonObject ready() {
    return new JsonObject();
  }

  /**
   * Does what it is told and waits for the end of it. A server that only serves is told nothing.
   *
   * @param command {@code do}: what; {@code times}: how often; others as the task wishes
   * @return what there is to tell beside time and CPU time, which the worker measures
   */
  default JsonObject run(JsonObject command) throws Exception {
    throw new IllegalArgumentException("a server only serves: " + command);
  }

  @Override
  void close() throws Exception;
}
