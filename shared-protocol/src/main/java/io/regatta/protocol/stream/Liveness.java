package io.regatta.protocol.stream;

import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.loop.Deadline;
import io.regatta.core.loop.Loop;
import io.regatta.core.loop.Timer;
import io.regatta.protocol.http2.DataLane;
import io.regatta.protocol.vertx.VertxLoop;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServer;
import java.util.concurrent.TimeUnit;

/**
 * The keep-alive of one HTTP/2 connection: sends the peer a PING periodically, and closes the connection if no answer
 * comes. Waiting for an answer to a request has no limit here; waiting for a peer that is frozen or cut off has. Owned
 * by the context that it was started on.
 */
public final class Liveness {
  private static final Buffer PING = Buffer.buffer(new byte[8]);
  /** Fraction of the limit; a running loop is never later than this. */
  private static final int LATE = 10;
  /** Number of times that an answer gets its time again: a loop that is always late notices a silent peer, too. */
  private static final int AGAIN = 3;

  private final Loop loop;
  private final HttpConnection connection;
  private final String peer;
  private final StreamOptions options;
  private final Timer timer;
  private boolean asked;
  /** Timer of the answer that is awaited, or was last. */
  private Timer limit = Timer.NONE;
  private PeerLost failure;

  /**
   * Watches a connection until it is closed.
   *
   * @param peer for the message, e.g. {@code 10.0.0.7:36001}
   */
  public static Liveness watch(Vertx vertx, HttpConnection connection, String peer, StreamOptions options) {
    return new Liveness(vertx, connection, peer, options);
  }

  /** Watches every connection that this server accepts; the server's connection handler is taken. */
  public static HttpServer guard(Vertx vertx, HttpServer server, StreamOptions options) {
    return server.connectionHandler(connection -> guard(vertx, connection, options));
  }

  /** Watches a connection that a server has accepted; its close handler is taken. */
  static void guard(Vertx vertx, HttpConnection connection, StreamOptions options) {
    Liveness watch = watch(vertx, connection, String.valueOf(connection.remoteAddress()), options);
    connection.closeHandler(v -> watch.stop());
  }

  private Liveness(Vertx vertx, HttpConnection connection, String peer, StreamOptions options) {
    loop = VertxLoop.current(vertx);
    this.connection = connection;
    this.peer = peer;
    this.options = options;
    timer = options.pingIntervalMillis() == 0 ? Timer.NONE : loop.every(options.pingIntervalMillis(), this::ping);
  }

  /** Returns the reason for which this watch has closed the connection, or null if it has not. */
  public PeerLost failure() {
    return failure;
  }

  /** Stops the watch; to be called when the connection is closed. */
  public void stop() {
    timer.cancel();
    limit.cancel(); // no answer comes on a closed connection
  }

  private void ping() {
    if (asked) {
      return;
    }
    asked = true;
    Future<Buffer> pong;
    try {
      pong = connection.ping(PING);
    } catch (UnsupportedOperationException e) {
      stop(); // HTTP/1.1 has no PING, and carries no tensor streams.
      return;
    }
    pong.onComplete(answer -> {
      asked = false;
      limit.cancel();
      if (answer.failed()) {
        stop();
      }
    });
    if (asked) {
      limit(pong, AGAIN);
    }
  }

  /**
   * Ends the connection if no answer comes in time. A timer that fires late shows that this process, and maybe the
   * whole machine, has stood still. Then the answer may lie unread, or be under way only now, and gets the same time
   * again.
   */
  private void limit(Future<Buffer> pong, int again) {
    long limitNanos = TimeUnit.MILLISECONDS.toNanos(options.pingTimeoutMillis());
    Deadline due = Deadline.inMillis(loop.clock(), options.pingTimeoutMillis());
    limit = loop.after(options.pingTimeoutMillis(), () -> {
      if (pong.isComplete()) {
        return;
      }
      if (again > 0 && -due.leftNanos() > limitNanos / LATE) {
        limit(pong, again - 1);
        return;
      }
      failure = new PeerLost(peer + " has not answered for " + options.pingTimeoutMillis()
          + " ms: the process is frozen, or the network to it is cut");
      stop();
      DataLane.cut(connection);
    });
  }
}
