package io.regatta.load.process;

import io.regatta.node.process.PlainVertx;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;

/** A server's process that listens on one port of its own Vertx. Called by the worker's main thread only. */
public abstract class PortServer implements Task {
  private final Vertx vertx;
  private final int port;

  /** Begins to listen. */
  protected interface Listening {
    /** Blocks; returns the port. */
    int on(Vertx vertx) throws Exception;
  }

  protected PortServer(Listening listening) throws Exception {
    vertx = Vertx.vertx(PlainVertx.options());
    port = listening.on(vertx);
  }

  protected final Vertx vertx() {
    return vertx;
  }

  @Override
  public final JsonObject ready() {
    return new JsonObject().put("port", port);
  }

  @Override
  public final void close() {
    vertx.close();
  }
}
