package io.regatta.protocol.stream;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.vertx.core.http.Http2Settings;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpVersion;

/**
 * Sizes and limits of tensor streams. Both ends may differ, except that a sender's chunks must fit the receiver's
 * {@code maxMessageBytes}.
 *
 * @param chunkBytes payload bytes per message; larger tensors travel as several
 * @param maxMessageBytes largest message accepted, header included
 * @param maxRequestBytes largest request or answer accepted, all chunks together
 * @param maxRequests requests of one stream in progress at a time; further ones are not read until one is answered
 * @param initialWindowBytes HTTP/2 flow-control window of a stream
 * @param connectionWindowBytes HTTP/2 flow-control window of a connection; well above a stream's, or one stalled stream
 *     blocks all
 * @param maxFrameBytes largest HTTP/2 frame
 * @param pingIntervalMillis how often a client asks the peer for a sign of life; 0: never
 * @param pingTimeoutMillis a peer that does not answer for so long is lost
 * @param connectTimeoutMillis limit for opening a connection
 */
public record StreamOptions(int chunkBytes, int maxMessageBytes, long maxRequestBytes, int maxRequests,
    int initialWindowBytes, int connectionWindowBytes, int maxFrameBytes, long pingIntervalMillis,
    long pingTimeoutMillis, int connectTimeoutMillis) {

  private static final int MAX_CONCURRENT_STREAMS = 10_000;

  public StreamOptions {
    check(chunkBytes >= 1024, "chunk_bytes", chunkBytes, "at least 1024");
    check(maxMessageBytes >= chunkBytes + 4096, "max_message_bytes", maxMessageBytes, "at least chunk_bytes + 4096");
    check(maxRequestBytes >= maxMessageBytes, "max_request_bytes", maxRequestBytes, "at least max_message_bytes");
    check(maxRequests >= 1, "max_requests", maxRequests, "at least 1");
    check(initialWindowBytes >= 65_535, "initial_window_bytes", initialWindowBytes, "at least 65535");
    check(connectionWindowBytes >= initialWindowBytes, "connection_window_bytes", connectionWindowBytes,
        "at least initial_window_bytes");
    check(maxFrameBytes >= 16_384 && maxFrameBytes <= 16_777_215, "max_frame_bytes", maxFrameBytes,
        "in 16384..16777215");
    check(pingIntervalMillis >= 0, "ping_interval_ms", pingIntervalMillis, "at least 0");
    check(pingTimeoutMillis >= 1, "ping_timeout_ms", pingTimeoutMillis, "at least 1");
    check(connectTimeoutMillis >= 1, "connect_timeout_ms", connectTimeoutMillis, "at least 1");
  }

  private static void check(boolean condition, String key, long value, String must) {
    if (!condition) {
      throw new InvalidInput("stream." + key + " is " + value + " but must be " + must);
    }
  }

  /** Measured defaults: 1 MiB chunks, 16 MiB stream window, 64 MiB connection window, 64 KiB frames. */
  public static StreamOptions defaults() {
    return new StreamOptions(1 << 20, 8 << 20, 2L << 30, 256, 16 << 20, 64 << 20, 64 << 10, 10_000, 30_000, 10_000);
  }

  /** The same with other chunk sizes. */
  public StreamOptions withChunkBytes(int bytes) {
    return new StreamOptions(bytes, Math.max(maxMessageBytes, bytes + 4096), maxRequestBytes, maxRequests,
        initialWindowBytes, connectionWindowBytes, maxFrameBytes, pingIntervalMillis, pingTimeoutMillis,
        connectTimeoutMillis);
  }

  HttpServerOptions serverOptions() {
    return new HttpServerOptions().setInitialSettings(settings()).setHttp2ConnectionWindowSize(connectionWindowBytes)
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
