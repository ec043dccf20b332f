package io.regatta.load.sparse;

import io.regatta.load.run.Machine;
import io.regatta.load.run.ParameterServers;
import io.regatta.load.run.PortServer;
import io.vertx.core.json.JsonObject;

/** The process of a parameter server; {@code memory} tells the bytes of its heap that are in use after a collection. */
final class SparseServer extends PortServer {

  SparseServer() throws Exception {
    super(vertx -> ParameterServers.start(vertx, SparseClient.OPTIONS));
  }

  @Override
  public JsonObject run(JsonObject command) {
    return new JsonObject().put("heap_bytes", Machine.usedHeapBytes());
  }
}
