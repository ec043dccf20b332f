package io.regatta.load.dense;

import io.regatta.load.process.Task;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;

/** The process of one kind's shards, one for each task. */
final class DenseServer implements Task {
  private final Peer peer;
  private final JsonArray ports = new JsonArray();

  DenseServer(JsonObject setup) throws Exception {
    peer = Peers.named(setup.getString("kind"), setup.getString("certificates"));
    for (DenseTask task : DenseTask.all(setup)) {
      ports.add(peer.serve(task));
    }
  }

  @Override
  public JsonObject ready() {
    return new JsonObject().put("ports", ports);
  }

  @Override
  public void close() throws Exception {
    peer.close();
  }
}
