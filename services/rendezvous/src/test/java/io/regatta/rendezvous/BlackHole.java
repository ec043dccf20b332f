package io.regatta.rendezvous;

import static io.regatta.rendezvous.RunningRendezvous.get;

import io.vertx.core.Vertx;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetServer;
import io.vertx.core.net.NetSocket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A TCP proxy that can stop forwarding the flows under way, as a network does that drops their packets: neither end is
 * notified.
 */
final class BlackHole {
  private final NetServer server;
  private final NetClient client;
  private final AtomicInteger connections = new AtomicInteger();
  /** Flows that are forwarded. */
  private final Set<NetSocket> forwarded = ConcurrentHashMap.newKeySet();

  /**
   * @param port to forward to
   * @param at where this one listens; 0: any
   * @param first so many connections are swallowed from their first byte on
   */
  BlackHole(Vertx vertx, int port, int at, int first) {
    client = vertx.createNetClient();
    server = vertx.createNetServer().connectHandler(near -> {
      near.pause();
      if (connections.incrementAndGet() <= first) {
        return;
      }
      forwarded.add(near);
      client.connect(port, "127.0.0.1").onSuccess(far -> {
        near.handler(bytes -> {
          if (forwarded.contains(near)) {
            far.write(bytes);
          }
        });
        far.handler(bytes -> {
          if (forwarded.contains(near)) {
            near.write(bytes);
          }
        });
        near.closeHandler(v -> {
          if (forwarded.contains(near)) {
            far.close();
          }
        });
        far.closeHandler(v -> {
          if (forwarded.contains(near)) {
            near.close();
          }
        });
        near.resume();
      });
    });
    get(server.listen(at, "127.0.0.1"));
  }

  int port() {
    return server.actualPort();
  }

  int connections() {
    return connections.get();
  }

  /** Stops forwarding the existing flows from now on; new ones are forwarded. */
  void swallow() {
    forwarded.clear();
  }

  void close() {
    get(server.close());
    get(client.close());
  }
}
