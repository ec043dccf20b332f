package io.regatta.protocol.connection;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.vertx.core.http.HttpServerOptions;
import java.net.InetAddress;
import java.util.concurrent.TimeUnit;

/**
 * Limits of the connections of one port. The strict ones end when a connection authenticates: then its peer is one of
 * the job, and an idle stream may stay open for as long as a trainer computes. A connection authenticates by a call
 * with the job's token. If the process has no token, any call does.
 *
 * @param connections open at a time, from all addresses; a quarter of them may be unauthenticated
 * @param perAddress open at a time from one {@link PeerOrigin}; loopback may have half of {@code connections}
 * @param authenticateMillis time from the connection's start, TLS handshake included, to the call that authenticates it
 */
public record ConnectionLimits(int connections, int perAddress, int authenticateMillis) {

  /** The defaults: 10,000 connections, 1,000 from one address, 20 s to authenticate. */
  public static final ConnectionLimits DEFAULTS = new ConnectionLimits(10_000, 1_000, 20_000);

  /** Bytes that are read of a connection within {@code authenticateMillis} before it authenticates. */
  static final int UNAUTHENTICATED_BYTES = 64 << 10;
  /** Calls that are answered on a connection within {@code authenticateMillis} before it authenticates. */
  static final int UNAUTHENTICATED_CALLS = 100;
  /** Calls of an HTTP/2 connection that may be open at a time before it authenticates. */
  public static final int UNAUTHENTICATED_STREAMS = 8;
  /** Time without a byte after which an HTTP/1 connection is closed, unless its server has a limit of its own. */
  public static final int IDLE_SECONDS = 120;
  private static final int HANDSHAKE_SECONDS = 10;
  private static final int HEADER_BYTES = 8192;
  private static final int RESETS = 200;
  private static final int RESET_SECONDS = 30;
  /** Connections for each one that may be unauthenticated. */
  private static final int UNAUTHENTICATED_PART = 4;
  /** Connections for each open call of unauthenticated ones beyond their first. */
  private static final int FURTHER_PART = 40;
  /** Such calls of a port with few connections: several monitors may watch its health. */
  private static final int LEAST_FURTHER = 64;

  public ConnectionLimits {
    check(connections >= UNAUTHENTICATED_PART, "max", connections, "at least " + UNAUTHENTICATED_PART);
    check(perAddress >= 1, "max_per_address", perAddress, "at least 1");
    check(authenticateMillis >= 1, "authenticate_ms", authenticateMillis, "at least 1");
  }

  private static void check(boolean condition, String key, long value, String must) {
    if (!condition) {
      throw new InvalidInput(key + " is " + value + " but must be " + must);
    }
  }

  /** Returns the number of connections that may be open from the origin of an address. */
  int of(InetAddress address) {
    return address.isLoopbackAddress() ? Math.max(perAddress, connections / 2) : perAddress;
  }

  /** Returns the number of connections that may be unauthenticated at a time. */
  int unauthenticated() {
    return connections / UNAUTHENTICATED_PART;
  }

  /** Returns the number of calls that unauthenticated connections may have open together beyond their first ones. */
  int furtherCalls() {
    return Math.max(LEAST_FURTHER, connections / FURTHER_PART);
  }

  /**
   * Sets the limits of what is read before a call has a handler: decompression off, header lists, resets in a time,
   * open calls. The last one ends when the connection authenticates.
   * Limits that Vert.x cannot set are Netty's defaults, and tests hold them. They are 16 small CONTINUATION frames of a
   * header list, 2 empty DATA frames in a row, and 10,000 control frames that wait to be sent.
   */
  public static void apply(HttpServerOptions options) {
    options.setDecompressionSupported(false).setMaxHeaderSize(HEADER_BYTES)
        .setSslHandshakeTimeout(HANDSHAKE_SECONDS).setSslHandshakeTimeoutUnit(TimeUnit.SECONDS)
        .setHttp2RstFloodMaxRstFramePerWindow(Math.max(options.getHttp2RstFloodMaxRstFramePerWindow(), RESETS))
        .setHttp2RstFloodWindowDuration(RESET_SECONDS).setHttp2RstFloodWindowDurationTimeUnit(TimeUnit.SECONDS);
    options.getInitialSettings().setMaxHeaderListSize(HEADER_BYTES).setMaxConcurrentStreams(
        Math.min(UNAUTHENTICATED_STREAMS, options.getInitialSettings().getMaxConcurrentStreams()));
    // No port speaks WebSocket, and the library's handler of its extensions fails after 128 requests in a row.
    options.setPerFrameWebSocketCompressionSupported(false).setPerMessageWebSocketCompressionSupported(false);
  }
}
