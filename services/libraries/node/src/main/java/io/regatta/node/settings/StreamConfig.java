package io.regatta.node.settings;

import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.Transport;
import io.soabase.recordbuilder.core.RecordBuilder;

/**
 * Sizes and limits of tensor streams, as configured: the section {@code stream} of every service that has some. The
 * defaults are the measured ones of {@link StreamOptions}. Validated in the constructor, immutable.
 */
@RecordBuilder
public record StreamConfig(
    @Setting(value = "1048576", unit = "bytes", doc = "Payload of one message; larger tensors travel as several.")
    int chunkBytes,

    @Setting(value = "8388608", unit = "bytes", doc = "Largest message accepted; must hold a peer's chunk_bytes + 4096.")
    int maxMessageBytes,

    @Setting(value = "2147483648", unit = "bytes", doc = "Largest request or answer accepted, all its chunks together.")
    long maxRequestBytes,

    @Setting(value = "256", doc = "Requests of one stream in progress; further ones are not read until one is answered.")
    int maxRequests,

    @Setting(value = "16777216", unit = "bytes", doc = "HTTP/2 flow-control window of a stream.")
    int initialWindowBytes,

    @Setting(value = "67108864", unit = "bytes", doc = "HTTP/2 flow-control window of a connection; well above a "
        + "stream's, or one stalled stream blocks all.")
    int connectionWindowBytes,

    @Setting(value = "65536", unit = "bytes", doc = "Largest HTTP/2 frame.")
    int maxFrameBytes,

    @Setting(value = "10000", unit = "ms", doc = "How often each side asks the other for a sign of life; 0: never.")
    long pingIntervalMs,

    @Setting(value = "20000", unit = "ms", doc = "A peer that does not answer for so long is lost; that is "
        + "noticed one interval later at most.")
    long pingTimeoutMs,

    @Setting(value = "10000", unit = "ms", doc = "Limit for opening a connection.")
    int connectTimeoutMs,

    @Setting(value = "auto", doc = "Ways for tensors: `auto` (by hand within one JVM, otherwise `grpc_shared`), `grpc_shared` "
        + "(`grpc_unix`, with long payloads in memory that both processes see), `grpc_unix` (gRPC, over a Unix "
        + "domain socket between processes of one machine), `grpc` (over TCP), or `grpc_plain` (without the fast path past "
        + "Vert.x). Both ends must allow a way.")
    Transport transport) implements StreamConfigBuilder.With {

  public StreamConfig {
    options(chunkBytes, maxMessageBytes, maxRequestBytes, maxRequests, initialWindowBytes, connectionWindowBytes,
        maxFrameBytes, pingIntervalMs, pingTimeoutMs, connectTimeoutMs, transport);
  }

  /** Returns the defaults. */
  public static StreamConfig defaults() {
    return Settings.defaults(StreamConfig.class);
  }

  /** Returns the options of streams with these settings. */
  public StreamOptions options() {
    return options(chunkBytes, maxMessageBytes, maxRequestBytes, maxRequests, initialWindowBytes, connectionWindowBytes,
        maxFrameBytes, pingIntervalMs, pingTimeoutMs, connectTimeoutMs, transport);
  }

  private static StreamOptions options(int chunkBytes, int maxMessageBytes, long maxRequestBytes, int maxRequests,
      int initialWindowBytes, int connectionWindowBytes, int maxFrameBytes, long pingIntervalMs, long pingTimeoutMs,
      int connectTimeoutMs, Transport transport) {
    return new StreamOptions(chunkBytes, maxMessageBytes, maxRequestBytes, maxRequests, initialWindowBytes,
        connectionWindowBytes, maxFrameBytes, pingIntervalMs, pingTimeoutMs, connectTimeoutMs, transport, PeerSecurity.NONE);
  }
}
