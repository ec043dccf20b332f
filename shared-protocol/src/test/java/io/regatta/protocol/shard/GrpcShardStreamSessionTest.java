package io.regatta.protocol.shard;

import io.regatta.protocol.stream.Transport;

/** A session over HTTP/2, past Vert.x. */
class GrpcShardStreamSessionTest extends ShardStreamSessionContract {

  GrpcShardStreamSessionTest() {
    super(Transport.GRPC);
  }
}
