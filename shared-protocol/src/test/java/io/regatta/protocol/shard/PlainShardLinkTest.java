package io.regatta.protocol.shard;

import io.regatta.protocol.stream.Transport;

/** A trainer's link by Vert.x alone. */
class PlainShardLinkTest extends ShardLinkContract {

  PlainShardLinkTest() {
    super(Transport.GRPC_PLAIN);
  }
}
