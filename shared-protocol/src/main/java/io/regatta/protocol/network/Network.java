package io.regatta.protocol.network;

import io.regatta.protocol.stream.TensorStreams;

/** The way from one process to others, with its TLS, its token and its time-outs. Any thread. */
public interface Network {

  /**
   * Returns control calls to a peer, over a connection of their own that is made for the first call.
   *
   * @param peer for messages, e.g. {@code rendezvous at 10.0.0.7:36000}
   */
  Calls calls(String host, int port, String peer);

  /** Returns a client for tensor streams of the calling loop. */
  TensorStreams streams();
}
