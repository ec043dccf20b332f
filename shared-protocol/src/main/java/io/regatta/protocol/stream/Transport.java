package io.regatta.protocol.stream;

/** The ways for tensors between two services. Semantics, limits and windows are the same on each. */
public enum Transport {
  /** In-process within one JVM, {@link #GRPC_SHARED} otherwise. */
  AUTO,
  /** gRPC over HTTP/2 on TCP, past the copies of Vert.x and Netty where the connection allows it. */
  GRPC,
  /** As {@link #GRPC}, but on a Unix domain socket between processes of one machine, see {@link HostSocket}. */
  GRPC_UNIX,
  /** As {@link #GRPC_UNIX}, and long payloads in memory that both processes see, see {@link SharedPayloads}. */
  GRPC_SHARED,
  /** gRPC over HTTP/2 by the public interfaces of Vert.x alone: the fallback, for comparison and in case of doubt. */
  GRPC_PLAIN;

  /** Returns true if services of one machine may use a Unix domain socket. */
  boolean isUnixAllowed() {
    return this == AUTO || this == GRPC_UNIX || this == GRPC_SHARED;
  }

  /** Returns true if processes of one machine, on such a socket, may share memory for payloads. */
  public boolean isSharedMemoryAllowed() {
    return this == AUTO || this == GRPC_SHARED;
  }
}
