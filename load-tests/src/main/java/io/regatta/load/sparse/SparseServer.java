package io.regatta.load.sparse;

import io.regatta.load.run.Loop;
import io.regatta.load.run.ShardServer;
import io.regatta.load.run.Task;
import io.regatta.node.process.PlainVertx;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.lang.management.ManagementFactory;

/** The process of a shard; {@code memory} tells the bytes of its heap that are in use after a collection. */
final class SparseServer implements Task {
  private final Vertx vertx = Vertx.vertx(PlainVertx.options());
  private final int port;

  SparseServer() throws Exception {
    port = ShardServer.listen(Loop.on(vertx), vertx, SparseClient.OPTIONS);
  }

  @Override
  public JsonObject ready() {
    return new JsonObject().put("port", port);
  }

  @Override
  public JsonObject run(JsonObject command) {
    System.gc();
    return new JsonObject().put("heap_bytes", ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
  }

  @Override
  public void close() {
    vertx.close();
  }
}
