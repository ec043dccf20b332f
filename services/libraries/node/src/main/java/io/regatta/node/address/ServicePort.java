package io.regatta.node.address;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.protocol.stream.HostSocket;
import io.regatta.protocol.stream.StreamOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.shareddata.LocalMap;
import java.net.BindException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * A port on which one service listens alone. If two servers of one Vertx listen on the same port, they share it and
 * connections are assigned to them in turn. That is harmless for stateless servers and silent corruption for owners of
 * state. A port of this kind is therefore reserved within its Vertx; between processes the operating system does the
 * same. Thread-safe.
 */
public final class ServicePort {

  private static final String RESERVED = "regatta.service-ports";
  private static final int BIND_TRIES = 10;
  private static final long BIND_RETRY_MILLIS = 20;

  private final Vertx vertx;
  private final HttpServer server;
  private final Runnable release;
  /** Null: there is no socket. */
  private final HostSocket socket;

  private ServicePort(Vertx vertx, HttpServer server, Runnable release, HostSocket socket) {
    this.vertx = vertx;
    this.server = server;
    this.release = release;
    this.socket = socket;
  }

  /**
   * Makes a server listen. A taken port is tried again for a fifth of a second: Vert.x reports a server closed some
   * milliseconds before its port is free.
   *
   * @param server makes the server, with its handlers set, for each attempt
   * @param port 0 for any free one
   * @param service the service that listens, for the message, e.g. {@code shard 0}
   * @param key configuration key of the port, for the message
   * @return fails with {@link InvalidInput} if the port is taken, naming it
   */
  public static Future<ServicePort> listen(Vertx vertx, Supplier<HttpServer> server, String host, int port,
      String service, String key) {
    LocalMap<String, String> reserved = vertx.sharedData().getLocalMap(RESERVED);
    String place = host + ":" + port;
    String holder = port == 0 ? null : reserved.putIfAbsent(place, service);
    if (holder != null) {
      return Future.failedFuture(taken(service, place, "it is held by " + holder + " of this process", key, null));
    }
    Runnable release = port == 0 ? () -> { } : () -> reserved.remove(place);
    return bind(vertx, server, host, port, BIND_TRIES)
        .map(listening -> new ServicePort(vertx, listening, release, null))
        .onFailure(e -> release.run())
        .recover(e -> Future.failedFuture(e instanceof InvalidInput ? e : taken(service, place, e.getMessage(), key, e)));
  }

  /**
   * Listens as {@link #listen}, for a service that takes tensor streams: from this machine on a Unix domain socket as
   * well.
   *
   * @param server makes the server from the options for its port, or for its socket
   * @param published host under which clients know the port; the socket is named after it
   */
  public static Future<ServicePort> listenForStreams(Vertx vertx, Function<StreamOptions, HttpServer> server, String host,
      int port, String service, String key, StreamOptions options, String published) {
    return listen(vertx, () -> server.apply(options), host, port, service, key).compose(tcp -> HostSocket.listen(vertx, server,
        published, tcp.port(), options).map(socket -> new ServicePort(vertx, tcp.server, tcp.release, socket)));
  }

  private static Future<HttpServer> bind(Vertx vertx, Supplier<HttpServer> server, String host, int port, int tries) {
    return Future.succeededFuture().compose(v -> server.get().listen(port, host)).recover(e -> inUse(e) && tries > 1
        ? vertx.timer(BIND_RETRY_MILLIS, TimeUnit.MILLISECONDS).compose(v -> bind(vertx, server, host, port, tries - 1))
        : Future.failedFuture(e));
  }

  /** Returns true if a port is in use; with native transport the exception is not a {@link BindException}. */
  private static boolean inUse(Throwable e) {
    return e instanceof BindException || String.valueOf(e.getMessage()).contains("in use");
  }

  private static InvalidInput taken(String service, String place, String why, String key, Throwable cause) {
    return new InvalidInput(service + " cannot listen on " + place + ": " + why + "; give another " + key
        + ", or 0 for any free one", cause);
  }

  /** Returns the port listened on. */
  public int port() {
    return server.actualPort();
  }

  /** Stops listening after requests in progress have ended, or after this time. */
  public Future<Void> shutdown(long millis) {
    release.run();
    Future<Void> tcp = server.shutdown(millis, TimeUnit.MILLISECONDS);
    return socket == null ? tcp : Future.join(tcp, socket.shutdown(vertx, millis)).mapEmpty();
  }
}
