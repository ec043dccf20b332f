package io.regatta.load.sparse;

import io.regatta.load.process.Machine;
import io.regatta.load.process.Task;
import io.regatta.load.run.GrpcJavaStream;
import io.regatta.load.run.ParameterServers;
import io.regatta.node.process.PlainVertx;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;

/** The process of a kind's table; {@code memory} returns the bytes of its heap that are in use after a collection. */
final class SparseServer implements Task {
  private final AutoCloseable server;
  private final int port;

  SparseServer(String kind) throws Exception {
    if (kind.equals(SparseDriver.GRPC_JAVA)) {
      GrpcJavaStream streams = new GrpcJavaStream();
      AdagradRows rows = new AdagradRows(SparseDriver.DIM);
      server = streams;
      port = streams.serve(answers -> new GrpcJavaRowShard(rows, answers));
    } else {
      Vertx vertx = Vertx.vertx(PlainVertx.options());
      server = vertx::close;
      port = ParameterServers.start(vertx, RegattaRows.OPTIONS);
    }
  }

  @Override
  public JsonObject ready() {
    return new JsonObject().put("port", port);
  }

  @Override
  public JsonObject run(JsonObject command) {
    return new JsonObject().put("heap_bytes", Machine.usedHeapBytes());
  }

  @Override
  public void close() throws Exception {
    server.close();
  }
}
