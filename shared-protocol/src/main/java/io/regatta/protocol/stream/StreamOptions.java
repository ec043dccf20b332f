package io.regatta.protocol.stream;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.protocol.http2.DataLane;
import io.regatta.protocol.security.PeerSecurity;
import io.soabase.recordbuilder.core.RecordBuilder;
import io.vertx.core.Future;
import io.vertx.core.http.Http2Settings;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpVersion;

/**
 * Sizes and limits of tensor streams. Both ends may differ, except that a sender's chunks must fit the receiver's
 * {@code maxMessageBytes}.
 *
 * @param chunkBytes payload bytes per message; larger tensors travel as several
 * @param maxMessageBytes largest message accepted, header included
 * @param maxRequestBytes largest request or answer accepted, all chunks together; at a server, all requests of a stream
 *     that are incomplete at a time
 * @param maxRequests requests of one stream in progress at a time: a client refuses further ones, a server does not
 *     read them until one is answered
 * @param initialWindowBytes HTTP/2 flow-control window of a stream: bytes that a peer may send while this side holds
 *     back
 * @param connectionWindowBytes HTTP/2 flow-control window of a connection; well above a stream's, or one stalled stream
 *     blocks all
 * @param maxFrameBytes largest HTTP/2 frame
 * @param pingIntervalMillis how often each side sends the other a PING; 0: never
 * @param pingTimeoutMillis a peer that does not answer for this long is lost; it is noticed after one interval more at
 *     most
 * @param connectTimeoutMillis limit for a connection to be there and to speak HTTP/2
 * @param transport ways that may be used; both ends must allow one for it to be used
 * @param security TLS and the token with which peers are called and served
 */
@RecordBuilder
public record StreamOptions(int chunkBytes, int maxMessageBytes, long maxRequestBytes, int maxRequests,
    int initialWindowBytes, int connectionWindowBytes, int maxFrameBytes, long pingIntervalMillis,
    long pingTimeoutMillis, int connectTimeoutMillis, Transport transport, PeerSecurity security)
    implements StreamOptionsBuilder.With {

  private static final int MAX_CONCURRENT_STREAMS = 10_000;
  /** The size that every HTTP/2 peer accepts, and the limit of many. */
  private static final int MIN_FRAME_BYTES = 16_384;

  public StreamOptions {
    check(chunkBytes >= 1024, "chunk_bytes", chunkBytes, "at least 1024");
    check(maxMessageBytes >= chunkBytes + 4096, "max_message_bytes", maxMessageBytes, "at least chunk_bytes + 4096");
    check(maxRequestBytes >= maxMessageBytes, "max_request_bytes", maxRequestBytes, "at least max_message_bytes");
    check(maxRequests >= 1, "max_requests", maxRequests, "at least 1");
    check(initialWindowBytes >= 65_535, "initial_window_bytes", initialWindowBytes, "at least 65535");
    check(connectionWindowBytes >= initialWindowBytes, "connection_window_bytes", connectionWindowBytes,
        "at least initial_window_bytes");
    check(maxFrameBytes >= MIN_FRAME_BYTES && maxFrameBytes <= 16_777_215, "max_frame_bytes", maxFrameBytes,
        "in 16384..16777215");
    check(pingIntervalMillis >= 0, "ping_interval_millis", pingIntervalMillis, "at least 0");
    check(pingTimeoutMillis >= 1, "ping_timeout_millis", pingTimeoutMillis, "at least 1");
    check(connectTimeoutMillis >= 1, "connect_timeout_millis", connectTimeoutMillis, "at least 1");
  }

  private static void check(boolean condition, String key, long value, String must) {
    if (!condition) {
      throw new InvalidInput("stream." + key + " is " + value + " but must be " + must);
    }
  }

  /**
   * Returns the defaults. Chunks have 1 MiB in messages of at most 8 MiB, and requests at most 2 GiB, 256 at a time.
   * The windows are 16 MiB for a stream and 64 MiB for a connection, frames have 64 KiB, and a frozen peer is noticed
   * in 30 s at most.
   */
  public static StreamOptions defaults() {
    return new StreamOptions(1 << 20, 8 << 20, 2L << 30, 256, 16 << 20, 64 << 20, 64 << 10, 10_000, 20_000, 10_000,
        Transport.AUTO, PeerSecurity.NONE);
  }

  /**
   * Returns a copy for a socket that only this user can open, see {@link HostSocket}: the token as everywhere, and no
   * TLS.
   */
  public StreamOptions onHostSocket() {
    return withSecurity(security.withoutTls());
  }

  /**
   * Installs the way of tensor streams past Vert.x, if it is allowed; completes when it is known whether they use it.
   */
  Future<Boolean> lane(HttpConnection connection) {
    return transport == Transport.GRPC_PLAIN ? Future.succeededFuture(false)
        : DataLane.install(connection, maxFrameBytes);
  }

  HttpServerOptions serverOptions() {
    return new HttpServerOptions().setInitialSettings(settings()).setHttp2ConnectionWindowSize(connectionWindowBytes)
        // A foreign client answers each frame for a stream that was given up by a reset: a window full of them.
        .setHttp2RstFloodMaxRstFramePerWindow(HttpServerOptions.DEFAULT_HTTP2_RST_FLOOD_MAX_RST_FRAME_PER_WINDOW
            + connectionWindowBytes / MIN_FRAME_BYTES)
        .setTcpNoDelay(true).setReuseAddress(true);
  }

  HttpClientOptions clientOptions() {
    return new HttpClientOptions().setProtocolVersion(HttpVersion.HTTP_2).setHttp2ClearTextUpgrade(false)
        .setInitialSettings(settings()).setHttp2ConnectionWindowSize(connectionWindowBytes)
        .setConnectTimeout(connectTimeoutMillis).setTcpNoDelay(true);
  }

  private Http2Settings settings() {
    return new Http2Settings().setInitialWindowSize(initialWindowBytes).setMaxFrameSize(maxFrameBytes)
        .setMaxConcurrentStreams(MAX_CONCURRENT_STREAMS);
  }
}
