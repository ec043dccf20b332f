package io.regatta.protocol.stream;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The tensor streams that one service takes from others of its JVM by hand. A service enters itself under the address on
 * which it serves gRPC as well, and is found by exactly that address: a proxy between has another one. The register is
 * the JVM's and thread-safe; an entry is owned by its service's context.
 */
public final class LocalStreams {
  private static final Map<String, LocalStreams> SERVICES = new ConcurrentHashMap<>();

  private final String address;
  private final Context context;
  private final Map<String, Handler<TensorStream>> paths;
  private final StreamOptions options;
  private final Set<HandoverStream> streams = new HashSet<>();
  private boolean closed;

  private LocalStreams(String address, Context context, Map<String, Handler<TensorStream>> paths,
      StreamOptions options) {
    this.address = address;
    this.context = context;
    this.paths = paths;
    this.options = options;
  }

  /**
   * Enters a service that listens on an address. Called on its context, which must be of an event loop.
   *
   * @param streams full method name to the one who takes the stream, as for {@link TensorStreamServer#handler}
   */
  public static LocalStreams serve(Context context, String host, int port, Map<String, Handler<TensorStream>> streams,
      StreamOptions options) {
    LocalStreams service = new LocalStreams(host + ":" + port, context, Map.copyOf(streams), options);
    if (options.transport() == Transport.AUTO) {
      SERVICES.put(service.address, service);
    }
    return service;
  }

  /** Takes the service out; its streams break. Called on its context. */
  public void close() {
    closed = true;
    SERVICES.remove(address, this);
    List.copyOf(streams).forEach(s -> s.breakOff("the service at " + address + " has closed"));
  }

  /**
   * Opens a stream by hand, if such a service is in this JVM and takes them so.
   *
   * @param opener context that owns the stream
   * @param ends the opener's own open ends: each is in it as long as it is of use
   * @return null if it has to be opened over the network
   */
  static Future<TensorStream> open(Context opener, StreamOptions options, String host, int port, String path,
      Set<HandoverStream> ends) {
    LocalStreams service = options.transport() == Transport.AUTO ? SERVICES.get(host + ":" + port) : null;
    Handler<TensorStream> taker = service == null ? null : service.paths.get(path);
    if (taker == null) {
      return null;
    }
    HandoverStream[] pair = new HandoverStream[2];
    HandoverStream[] made = HandoverStream.pair(opener, options, "this process", () -> ends.remove(pair[0]),
        service.context, service.options, host + ":" + port, () -> service.streams.remove(pair[1]));
    pair[0] = made[0];
    pair[1] = made[1];
    ends.add(pair[0]);
    Promise<TensorStream> opened = Promise.promise();
    service.context.runOnContext(v -> {
      if (service.closed) {
        pair[1].breakOff("the service at " + service.address + " has closed");
      } else {
        service.streams.add(pair[1]);
        taker.handle(pair[1]);
      }
      opener.runOnContext(w -> opened.complete(pair[0]));
    });
    return opened.future();
  }
}
