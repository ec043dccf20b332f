package io.regatta.load.small;

import io.regatta.load.run.Loop;
import io.regatta.load.run.ShardServer;
import io.regatta.load.run.Task;
import io.regatta.node.process.PlainVertx;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;

/** The process of a shard. */
final class PushServer implements Task {
  private final Vertx vertx = Vertx.vertx(PlainVertx.options());
  private final int port;

  PushServer(JsonObject setup) throws Exception {
    port = ShardServer.listen(Loop.on(vertx), vertx, PushClient.options(setup));
  }

  @Override
  public JsonObject ready() {
    return new JsonObject().put("port", port);
  }

  @Override
  public JsonObject run(JsonObject command) {
    throw new IllegalArgumentException("a server only serves: " + command);
  }

  @Override
  public void close() {
    vertx.close();
  }
}
