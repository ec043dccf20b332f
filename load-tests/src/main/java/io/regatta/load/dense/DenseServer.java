package io.regatta.load.dense;

import io.regatta.load.run.Task;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;

/** The process of one kind's shards, one for each chunk size. */
final class DenseServer implements Task {
  private final Peer peer;
  private final JsonObject ports = new JsonObject();

  DenseServer(JsonObject setup) throws Exception {
    peer = Peers.named(setup.getString("kind"));
    JsonArray chunks = setup.getJsonArray("chunks");
    for (int i = 0; i < chunks.size(); i++) {
      int chunk = chunks.getInteger(i);
      ports.put(Integer.toString(chunk), peer.serve(new DenseTask(setup.getInteger("elements"), chunk)));
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
