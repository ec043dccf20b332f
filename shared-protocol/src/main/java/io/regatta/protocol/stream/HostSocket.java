package io.regatta.protocol.stream;

import io.regatta.protocol.memory.UserDirectory;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.net.SocketAddress;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A Unix domain socket beside the port of a service that takes tensor streams. Between processes of one machine it
 * carries the same HTTP/2 for two thirds of the CPU time that TCP takes over loopback. Both ends derive the path of the
 * socket from the port's address, the network namespace and the user, so it need not be announced. A process in another
 * namespace or container, or of another user, finds none and uses TCP. Only Linux provides the namespace of a process;
 * elsewhere there are none of these sockets. The directory is the user's alone. A process that can connect could read
 * the key of the process's certificate as well, so there is no TLS here; the token is required as everywhere.
 */
public final class HostSocket {

  private static final Logger LOG = LoggerFactory.getLogger(HostSocket.class);
  private static final Pattern NAMESPACE = Pattern.compile("net:\\[(\\d+)]");
  /** Longest path in the kernel's address, without the final zero. */
  private static final int LONGEST = 107;

  private final HttpServer server;
  private final Path path;

  private HostSocket(HttpServer server, Path path) {
    this.server = server;
    this.path = path;
  }

  /**
   * Listens beside a port that this process listens on.
   *
   * @param server makes one as for the port, with its handlers set, from the options for this socket
   * @return null if there can be none here, which a line of the debug log explains; never fails
   */
  public static Future<HostSocket> listen(Vertx vertx, Function<StreamOptions, HttpServer> server, String host, int port,
      StreamOptions options) {
    SocketAddress address = options.transport().isUnixAllowed() ? address(host, port) : null;
    if (address == null) {
      return Future.succeededFuture();
    }
    Path path = Path.of(address.path());
    return vertx.<Void>executeBlocking(() -> {
      Places.DIRECTORY.make();
      Files.deleteIfExists(path); // of a process that was killed: the port is ours now
      return null;
    }, false).compose(v -> server.apply(options.onHostSocket()).listen(address)).map(listening -> new HostSocket(listening, path))
        .recover(e -> {
          LOG.debug("no Unix domain socket beside {}:{}, TCP alone: {}", host, port, e.toString());
          return Future.succeededFuture();
        });
  }

  /**
   * Returns the address of the socket of a service on this machine that listens at a port, if it has one.
   *
   * @return null if there can be none
   */
  static SocketAddress address(String host, int port) {
    if (Places.DIRECTORY == null) {
      return null;
    }
    String path = Places.DIRECTORY.path() + "/" + Places.NAMESPACE_ID + "-" + host.replaceAll("[^0-9A-Za-z.]", "_") + "-" + port;
    return path.getBytes(StandardCharsets.UTF_8).length > LONGEST ? null : SocketAddress.domainSocketAddress(path);
  }

  /** The places, determined at first use. */
  private static final class Places {
    private static final String NAMESPACE_ID = namespace();
    /** Null: none of these sockets here. */
    private static final UserDirectory DIRECTORY = NAMESPACE_ID == null ? null
        : UserDirectory.in(Path.of(System.getProperty("java.io.tmpdir")));

    private static String namespace() {
      try {
        Matcher link = NAMESPACE.matcher(Files.readSymbolicLink(Path.of("/proc/self/ns/net")).toString());
        return link.matches() ? link.group(1) : null;
      } catch (IOException | UnsupportedOperationException | SecurityException e) {
        return null;
      }
    }
  }

  /**
   * Finds the socket of a service that listens at a port, if it has a trusted one: another user who could put a socket
   * there could pose as the service.
   *
   * @return null: none
   */
  static Future<SocketAddress> find(Vertx vertx, String host, int port) {
    SocketAddress address = address(host, port);
    return address == null ? Future.succeededFuture() : vertx.executeBlocking(() -> {
      Path path = Path.of(address.path());
      return Files.exists(path, LinkOption.NOFOLLOW_LINKS) && Places.DIRECTORY.isOwn() ? address : null;
    }, false).otherwiseEmpty();
  }

  /** Stops listening, and lets requests in progress end, for this time at most. */
  public Future<Void> shutdown(Vertx vertx, long millis) {
    // The file first: the port, and with it the name, may be another process's before the last request has ended.
    return vertx.<Void>executeBlocking(() -> {
      Files.deleteIfExists(path);
      return null;
    }, false).transform(deleted -> server.shutdown(millis, TimeUnit.MILLISECONDS)).otherwiseEmpty();
  }
}
