package io.regatta.protocol.stream;

import io.regatta.core.loop.Loop;
import io.regatta.protocol.stream.HandoverStream.End;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The in-process tensor streams that one service takes from others of its JVM. A service registers under the address on
 * which it serves gRPC as well, and is found by exactly that address: a proxy between has another one. The register is
 * the JVM's and thread-safe; an entry is owned by its service's context.
 */
public final class LocalStreams {
  private static final Map<String, LocalStreams> SERVICES = new ConcurrentHashMap<>();

  private final String address;
  private final Loop loop;
  private final Map<String, Handler<TensorStream>> paths;
  private final StreamOptions options;
  private final Set<HandoverStream> streams = new HashSet<>();
  private boolean closed;

  private LocalStreams(String address, Loop loop, Map<String, Handler<TensorStream>> paths,
      StreamOptions options) {
    this.address = address;
    this.loop = loop;
    this.paths = paths;
    this.options = options;
  }

  /**
   * Registers a service that listens on an address. Called on its context, which must be of an event loop.
   *
   * @param streams full method name to the handler of the stream, as for {@link TensorStreamServer#handler}
   */
  public static LocalStreams serve(Loop loop, String host, int port, Map<String, Handler<TensorStream>> streams,
      StreamOptions options) {
    LocalStreams service = new LocalStreams(host + ":" + port, loop, Map.copyOf(streams), options);
    if (options.transport() == Transport.AUTO) {
      SERVICES.put(service.address, service);
    }
    return service;
  }

  /** Removes the service; its streams break. Called on its context. */
  public void close() {
    closed = true;
    SERVICES.remove(address, this);
    List.copyOf(streams).forEach(s -> s.breakOff("the service at " + address + " has closed"));
  }

  /** The in-process streams of one client to one service: the windows to it and from it, which its streams share. */
  record Connection(HandoverWindow to, HandoverWindow from) {

    private static Connection between(StreamOptions client, StreamOptions service) {
      return new Connection(new HandoverWindow(service.connectionWindowBytes()),
          new HandoverWindow(client.connectionWindowBytes()));
    }
  }

  /**
   * Opens an in-process stream, if such a service is in this JVM and accepts them.
   *
   * @param opener context that owns the stream
   * @param connections the opener's own: one to each service as long as a stream to it is open
   * @return null if it has to be opened over the network
   */
  static Future<TensorStream> open(Loop opener, StreamOptions options, String host, int port, String path,
      Map<LocalStreams, Connection> connections) {
    LocalStreams service = options.transport() == Transport.AUTO ? SERVICES.get(host + ":" + port) : null;
    if (service != null && !service.options.security().token().equals(options.security().token())) {
      return null; // it is refused there
    }
    Handler<TensorStream> taker = service == null ? null : service.paths.get(path);
    if (taker == null) {
      return null;
    }
    Connection connection = connections.computeIfAbsent(service, s -> Connection.between(options, s.options));
    HandoverStream[] pair = HandoverStream.pair(
        new End(opener, opener, service.address, options, connection.to, end -> {
          connection.to.remove(end);
          if (connection.to.streams().isEmpty()) {
            connections.remove(service, connection);
          }
        }),
        new End(service.loop, service.loop, "this process", service.options, connection.from, end -> {
          connection.from.remove(end);
          service.streams.remove(end);
        }));
    HandoverStream client = pair[0];
    HandoverStream server = pair[1];
    connection.to.add(client);
    Promise<TensorStream> opened = Promise.promise();
    service.loop.execute(() -> {
      if (service.closed) {
        server.breakOff("the service at " + service.address + " has closed");
      } else {
        connection.from.add(server);
        service.streams.add(server);
        taker.handle(server);
      }
      opener.execute(() -> opened.complete(client));
    });
    return opened.future();
  }
}
