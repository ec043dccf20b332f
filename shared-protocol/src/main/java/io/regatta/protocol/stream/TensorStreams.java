package io.regatta.protocol.stream;

import io.vertx.core.Future;

/**
 * An opener of tensor streams; those to the same peer share a connection. Owned by one loop, on which all calls are
 * made.
 */
public interface TensorStreams {

  /**
   * Opens a stream, which belongs to the calling loop; completes when the request is on its way. A server that refuses
   * the stream reports it through the stream's exception handler.
   *
   * @param path full method name, e.g. {@code /regatta.ParameterShard/Exchange}
   * @return fails with {@code PeerLost} if there is no connection in time, with {@code InvalidInput} if the TLS of the
   *     two does not match
   */
  Future<TensorStream> open(String host, int port, String path);

  /** Closes all connections; open streams break. */
  Future<Void> close();
}
