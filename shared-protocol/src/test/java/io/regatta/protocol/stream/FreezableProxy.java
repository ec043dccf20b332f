package io.regatta.protocol.stream;

import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetServer;
import io.vertx.core.net.NetSocket;

/** A TCP proxy that can stop passing bytes on while it keeps its connections: a frozen process, or a cut cable. */
public final class FreezableProxy {
  private final NetClient client;
  private final NetServer server;
  private volatile boolean frozen;

  public FreezableProxy(Vertx vertx, int target) throws Exception {
    client = vertx.createNetClient();
    server = Loop.get(vertx.createNetServer().connectHandler(in -> {
      in.pause();
      client.connect(target, "127.0.0.1").onFailure(e -> in.close()).onSuccess(out -> {
        pass(in, out);
        pass(out, in);
        in.resume();
      });
    }).listen(0, "127.0.0.1"));
  }

  private void pass(NetSocket from, NetSocket to) {
    from.handler((Buffer b) -> {
      if (!frozen) {
        to.write(b);
      }
    });
    from.closeHandler(v -> {
      if (!frozen) {
        to.close();
      }
    });
  }

  public int port() {
    return server.actualPort();
  }

  public void freeze() {
    frozen = true;
  }
}
