package io.regatta.load.small;

import io.regatta.load.process.PortServer;
import io.regatta.load.process.WorkerLoop;
import io.regatta.load.run.ParameterServers;
import io.regatta.load.run.ShardServer;
import io.vertx.core.json.JsonObject;

/** The process of a parameter server, or of a shard alone. */
final class PushServer extends PortServer {

  PushServer(JsonObject setup) throws Exception {
    super(vertx -> setup.getString("kind").equals(SmallDriver.LINK)
        ? ShardServer.listen(WorkerLoop.on(vertx), vertx, PushClient.options(setup))
        : ParameterServers.start(vertx, PushClient.options(setup)));
  }
}
