package io.regatta.load.stall;

import io.regatta.load.run.Loop;
import io.regatta.load.run.MemoryWatch;
import io.regatta.load.run.ShardServer;
import io.regatta.load.run.Task;
import io.regatta.node.process.PlainVertx;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;

/** The process of a shard; {@code begin} and {@code end} tell the peaks of its memory. */
final class StallServer implements Task {
  private final Vertx vertx = Vertx.vertx(PlainVertx.options());
  private final MemoryWatch memory = new MemoryWatch(vertx);
  private final int port;

  StallServer(JsonObject setup) throws Exception {
    port = ShardServer.listen(Loop.on(vertx), vertx, StallDriver.options(setup));
  }

  @Override
  public JsonObject ready() {
    return new JsonObject().put("port", port);
  }

  @Override
  public JsonObject run(JsonObject command) throws Exception {
    if (command.getString("do").equals("end")) {
      return memory.end();
    }
    memory.begin();
    return new JsonObject();
  }

  @Override
  public void close() {
    vertx.close();
  }
}
