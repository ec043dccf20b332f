package io.regatta.load.stall;

import io.regatta.load.process.WorkerLoop;
import io.regatta.load.process.MemoryWatch;
import io.regatta.load.process.PortServer;
import io.regatta.load.run.ShardServer;
import io.vertx.core.json.JsonObject;

/** The process of a shard; {@code begin} and {@code end} measure the peaks of its memory. */
final class StallServer extends PortServer {
  private final MemoryWatch memory = new MemoryWatch(vertx());

  StallServer(JsonObject setup) throws Exception {
    super(vertx -> ShardServer.listen(WorkerLoop.on(vertx), vertx, StallDriver.options(setup)));
  }

  @Override
  public JsonObject run(JsonObject command) throws Exception {
    if (command.getString("do").equals("end")) {
      return memory.end();
    }
    memory.begin();
    return new JsonObject();
  }
}
