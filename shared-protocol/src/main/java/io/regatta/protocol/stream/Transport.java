package io.regatta.protocol.stream;

/** The ways for tensors between two services. What they mean is the same on each, and so are limits and windows. */
public enum Transport {
  /** By hand within one JVM, {@link #GRPC} otherwise. */
  AUTO,
  /** gRPC over HTTP/2, past the copies of Vert.x and Netty where the connection allows it. */
  GRPC,
  /** gRPC over HTTP/2 by the public interfaces of Vert.x alone: the fallback, for comparison and for doubt. */
  GRPC_PLAIN
}
