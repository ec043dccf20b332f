package io.regatta.protocol.shard;

import io.regatta.protocol.stream.Transport;

/** A session by Vert.x alone. */
class PlainShardStreamSessionTest extends ShardStreamSessionContract {

  PlainShardStreamSessionTest() {
    super(Transport.GRPC_PLAIN);
  }
}
