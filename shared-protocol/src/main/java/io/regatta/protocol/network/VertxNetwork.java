package io.regatta.protocol.network;

import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.TensorStreamClient;
import io.regatta.protocol.stream.TensorStreams;
import io.vertx.core.Vertx;

/**
 * The network of a Vertx: gRPC over HTTP/2.
 *
 * @param options sizes, timeouts and security of everything that is opened; control calls use the timeouts and the
 *     security
 */
public record VertxNetwork(Vertx vertx, StreamOptions options) implements Network {

  /** Creates a network with default options: without TLS, without a token. */
  public VertxNetwork(Vertx vertx) {
    this(vertx, StreamOptions.defaults());
  }

  @Override
  public Calls calls(String host, int port, String peer) {
    return new UnaryCalls(vertx, host, port, peer, options);
  }

  @Override
  public TensorStreams streams() {
    return new TensorStreamClient(vertx, options);
  }
}
