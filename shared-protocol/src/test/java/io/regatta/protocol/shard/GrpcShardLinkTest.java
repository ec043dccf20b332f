package io.regatta.protocol.shard;

import io.regatta.protocol.stream.Transport;

/** A trainer's link over HTTP/2, past Vert.x. */
class GrpcShardLinkTest extends ShardLinkContract {

  GrpcShardLinkTest() {
    super(Transport.GRPC);
  }
}
