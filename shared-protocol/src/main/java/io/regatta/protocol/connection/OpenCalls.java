package io.regatta.protocol.connection;

import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionAdapter;
import io.netty.handler.codec.http2.Http2Stream;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The open calls of an HTTP/2 connection that has not authenticated. The library refuses a call beyond
 * {@link ConnectionLimits#UNAUTHENTICATED_STREAMS}. A port counts those of all its connections together, without the
 * first of each, which the number of connections limits: a probe with one call at a time is never one too many. A call
 * whose answer nobody reads is open. Owned by the connection's event loop.
 */
final class OpenCalls extends Http2ConnectionAdapter {
  private final Http2Connection connection;
  private final AtomicInteger furtherOfPort;
  private final int mostFurther;
  private final Runnable tooMany;
  private int open;
  /** The fewest calls that were open at a time since the last {@link #restart}. */
  private int fewest;

  /**
   * Begins to count, in the first call.
   *
   * @param furtherOfPort calls beyond the first of each connection of the port
   * @param tooMany runs whenever there are more of these than {@code mostFurther}
   */
  OpenCalls(Http2Connection connection, AtomicInteger furtherOfPort, int mostFurther, Runnable tooMany) {
    this.connection = connection;
    this.furtherOfPort = furtherOfPort;
    this.mostFurther = mostFurther;
    this.tooMany = tooMany;
    connection.remote().maxActiveStreams(ConnectionLimits.UNAUTHENTICATED_STREAMS); // also before it acknowledges them
    open = connection.remote().numActiveStreams();
    fewest = open;
    furtherOfPort.addAndGet(further());
    connection.addListener(this);
  }

  private int further() {
    return Math.max(0, open - 1);
  }

  /** Returns the number of calls that were open at every moment since the last {@link #restart}. */
  int fewest() {
    return fewest;
  }

  /** Begins a new period of {@link #fewest}. */
  void restart() {
    fewest = open;
  }

  @Override
  public void onStreamActive(Http2Stream stream) {
    if (open++ > 0 && furtherOfPort.incrementAndGet() > mostFurther) {
      tooMany.run();
    }
  }

  @Override
  public void onStreamClosed(Http2Stream stream) {
    if (--open > 0) {
      furtherOfPort.decrementAndGet();
    }
    fewest = Math.min(fewest, open);
  }

  /** Counts no more: the connection has authenticated, or has been closed. */
  void end() {
    connection.removeListener(this);
    furtherOfPort.addAndGet(-further());
    open = 0;
  }
}
