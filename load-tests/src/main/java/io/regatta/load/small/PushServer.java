package io.regatta.load.small;

import io.regatta.load.run.Loop;
import io.regatta.load.run.PortServer;
import io.regatta.load.run.ShardServer;
import io.vertx.core.json.JsonObject;

/** The process of a shard. */
final class PushServer extends PortServer {

  PushServer(JsonObject setup) throws Exception {
    super(vertx -> ShardServer.listen(Loop.on(vertx), vertx, PushClient.options(setup)));
  }
}
